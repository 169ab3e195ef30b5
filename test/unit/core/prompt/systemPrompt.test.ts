// The system prompt explains notification blocks in at most six lines; the last one has the key.
import { expect, test } from 'vitest';
import { systemPrompt } from '../../../../src/core/prompt/systemPrompt.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

test('the explanation has at most six lines, with the key only in the last', () => {
  const lines = systemPrompt(createFolderWorkspace('/work'), 'the-key', ['an instruction\nof two lines']).split('\n');
  const blocks = lines.slice(lines.lastIndexOf('') + 1);
  expect(blocks.length).toBeLessThanOrEqual(6);
  expect(lines.filter((line) => line.includes('the-key'))).toEqual([lines.at(-1)]);
  expect(blocks.join(' ')).toContain('never consent');
});
