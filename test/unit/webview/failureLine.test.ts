// The line of a failed call that the folded card shows.
import { expect, test } from 'vitest';
import { failureLine } from '../../../src/webview/failureLine.ts';

test.each([
  [
    'a compiler’s error among other lines',
    '> shop@1.0.0 build\n> tsc\n\nsrc/menu.ts(3,7): error TS2322: Type string\nFound 1 error.\n(exit code 2)',
    'src/menu.ts(3,7): error TS2322: Type string (exit code 2)',
  ],
  ['the last line if no line names an error', 'one\ntwo\n\n(exit code 1)', 'two (exit code 1)'],
  ['only the exit code if there was no output', '(exit code 1)', '(exit code 1)'],
  ['a task with its time', 'No such tea.\n(exit code 3, 1.2 s)', 'No such tea. (exit code 3)'],
  ['a signal', 'brewing\n(ended by SIGKILL)', 'brewing (ended by SIGKILL)'],
  ['a note before the end', 'brewing\n(Note: 2 processes go on.)\n(exit code 1)', 'brewing (exit code 1)'],
  [
    'the first line of any other result',
    'a.txt: there is no such file.\nlist_files shows what is there.',
    'a.txt: there is no such file.',
  ],
  ['nothing', '', ''],
])('%s', (_case, text, line) => {
  expect(failureLine(text)).toBe(line);
});
