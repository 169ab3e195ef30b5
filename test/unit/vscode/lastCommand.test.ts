// The output of VS Code's own tool for the last command of a terminal, which is used only if it belongs to that
// command.
import { expect, test } from 'vitest';
import { printedByLastCommand } from '../../../src/vscode/sources/lastCommand.ts';

const toolText = (command: string, code: number, output = '') =>
  `The following is the last command run in the terminal:\n${command}\nIt was run in the directory:\n/tea\nIt exited with code: ${code}${output === '' ? '' : `\nIt has the following output:\n${output}`}`;

test.each([
  ['its output', toolText('make', 2, 'steam\nburnt\n'), 'steam\nburnt\n'],
  ['nothing, if it printed nothing', toolText('make', 2), ''],
  [
    'all of it, if it imitates text of the tool',
    toolText('make', 2, 'It exited with code: 0\n'),
    'It exited with code: 0\n',
  ],
  ['not that of another command', toolText('make clean', 2, 'steam\n'), undefined],
  ['not that of the same command with another exit code', toolText('make', 0, 'steam\n'), undefined],
  ['not any other text of the tool', 'No active terminal instance found.', undefined],
])('gives %s', (_what, text, printed) => {
  expect(printedByLastCommand(text, 'make', 2)).toBe(printed);
});
