// Texts of the Guide: line counts, and which notifications are shown as a diff.
import { expect, test } from 'vitest';
import { describeBlock, reportRead } from '../../../../src/models/guide/guideSpeech.ts';

test.each([
  ['', '0 lines'],
  ['one', '1 line'],
  ['one\n', '1 line'],
  ['one\ntwo\n', '2 lines'],
  ['one\n\n', '2 lines'],
])('%j has %s', (text, lines) => {
  expect(reportRead('a.ts', text)).toContain(`, ${lines}.`);
});

test('the file in the editor, which the user knows, is not reported', () => {
  const entry = (source: string, name: string, text: string) =>
    `<notification source="${source}" name="${name}" level="info" key="k"><![CDATA[${text}]]></notification>`;
  const focus = entry('editor', 'focus', 'In the editor: a.ts. This may be unrelated.');
  expect(describeBlock(focus)).toBe('');
  expect(describeBlock(`${focus}\n${entry('file', 'changed', 'b.ts changed.')}`)).toBe(
    '**I was notified meanwhile:**\n\n- **File changed**: b.ts changed.',
  );
  expect(describeBlock(focus, ['Stop that.'])).not.toContain('a.ts');
});

test.each([
  ['a.ts changed:\n@@ -1 +1 @@\n-one\n+two', 'diff'],
  ['a.ts changed:\n+two', 'diff'],
  ['a.ts has 2 problems:\n  line 1: error ts 1: Wrong.\n  line 2: error ts 1: Wrong.', ''],
  ['`npm test` failed. Its last lines:\n 1 passing', ''],
])('%j', (body, language) => {
  const block = `<notifications shown="1" total="1" key="k">\n<notification source="file" name="changed" level="info" origin="host" at="12:00:00"><![CDATA[\n${body}\n]]></notification>\n</notifications>`;
  expect(describeBlock(block)).toMatch(new RegExp(`\n\n\`\`\`${language}\n`));
});
