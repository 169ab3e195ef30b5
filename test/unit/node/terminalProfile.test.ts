// The shell of commands from the user's terminal settings, as VS Code finds it.
import { expect, test } from 'vitest';
import { platformFor } from '../../../src/node/platform/platform.ts';
import { terminalShell, type TerminalValues } from '../../../src/node/terminalProfile.ts';

const none: TerminalValues = { automationProfile: undefined, defaultProfile: undefined, profiles: undefined };

function shell(values: Partial<TerminalValues>, there: readonly string[] = [], platform: NodeJS.Platform = 'linux') {
  const env = { SHELL: '/bin/login', SystemRoot: 'C:\\Windows', PROGRAMFILES: 'C:\\Programs' };
  const { programs } = platformFor(platform);
  const system = { programs, env, exists: (path: string) => there.includes(path), loginShell: () => '/bin/account' };
  return terminalShell({ ...none, ...values }, system);
}

test('without settings it is the login shell', () => {
  expect(shell({})).toBe('/bin/login');
  const { programs } = platformFor('linux');
  const system = { programs, env: {}, exists: () => true, loginShell: () => '/bin/account' };
  expect(terminalShell(none, system)).toBe('/bin/account');
});

test('the automation profile goes before the default profile', () => {
  const profiles = { fish: { path: ['/opt/fish', '/usr/bin/fish'] }, named: { path: 'zsh' } };
  expect(shell({ profiles, defaultProfile: 'fish' }, ['/usr/bin/fish'])).toBe('/usr/bin/fish');
  expect(shell({ profiles, defaultProfile: 'named' })).toBe('zsh');
  const automationProfile = { path: '/bin/dash' };
  expect(shell({ profiles, defaultProfile: 'fish', automationProfile }, ['/bin/dash', '/opt/fish'])).toBe('/bin/dash');
});

test.each([
  ['a relative path, which each repository could provide', { path: './bash' }],
  ['a path in the folder', { path: 'tools/bash' }],
  ['a file that does not exist', { path: '/gone/bash' }],
  ['a variable of the workspace', { path: '${workspaceFolder}/bash' }],
  ['no path', { path: 7 }],
  ['an unknown source', { source: 'constructor' }],
])('a profile with %s is not used', (_what, automationProfile) => {
  expect(shell({ automationProfile })).toBe('/bin/login');
  expect(shell({ defaultProfile: '__proto__', profiles: { x: automationProfile } })).toBe('/bin/login');
});

test('on Windows a profile names its program by source, and variables are replaced', () => {
  const powershell = 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe';
  const git = 'C:\\Programs\\Git\\bin\\bash.exe';
  const windows = (values: Partial<TerminalValues>, there: readonly string[]) => shell(values, there, 'win32');
  expect(windows({}, [powershell])).toBe(powershell);
  expect(windows({ defaultProfile: 'g', profiles: { g: { source: 'Git Bash' } } }, [git, powershell])).toBe(git);
  expect(windows({ automationProfile: { path: '${env:ProgramFiles}\\Git\\bin\\bash.exe' } }, [git])).toBe(git);
});
