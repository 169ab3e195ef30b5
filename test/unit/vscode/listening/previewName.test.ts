// Names of previews: VS Code shows cached content for a name that it has seen.
import { expect, test } from 'vitest';
import { previewName } from '../../../../src/vscode/listening/previewName.ts';

test('changes of equal length have different names, and equal changes the same one', () => {
  const changes = [
    { before: '{}', after: '{"a":1}' },
    { before: '{}', after: '{"a":2}' },
    { before: '[]', after: '{"a":1}' },
    { before: '{}{', after: '"a":1}' },
  ];
  expect(new Set(changes.map(previewName)).size).toBe(4);
  expect(previewName({ before: '{}', after: '' })).toBe(previewName({ before: '{}', after: '' }));
});
