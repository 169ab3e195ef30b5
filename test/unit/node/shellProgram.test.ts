// How a command line is passed to each shell. `test/windows/` runs the same in a real cmd.exe.
import { expect, test } from 'vitest';
import { commandArguments, shellProgram } from '../../../src/node/shellProgram.ts';

const line = (shell: string, command: string) => commandArguments(shellProgram(shell), command);

test('cmd.exe removes the first and the last quote of its line, so both are added', () => {
  expect(line('C:\\Windows\\System32\\cmd.exe', '"C:\\Program Files\\x.exe" "a b"')).toEqual({
    args: ['/d', '/s', '/c', '""C:\\Program Files\\x.exe" "a b""'],
    isVerbatim: true,
  });
});

test.each(['C:\\Program Files\\PowerShell\\7\\pwsh.exe', 'powershell', '/usr/bin/pwsh'])(
  '%s ends with the exit code of the command',
  (shell) => {
    const { args, isVerbatim } = line(shell, 'npm test # all');
    expect([args.slice(0, 3), isVerbatim]).toEqual([['-NoProfile', '-NonInteractive', '-Command'], false]);
    expect(args[3]?.split('\n')[0]).toBe('npm test # all');
    expect(args[3]).toContain('exit $LASTEXITCODE');
  },
);

test('other shells get the command as one argument', () => {
  expect(line('/bin/sh', 'echo "a"')).toEqual({ args: ['-c', 'echo "a"'], isVerbatim: false });
});
