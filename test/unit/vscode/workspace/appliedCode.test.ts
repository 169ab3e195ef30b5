// Which saves contain code from the chat that the user has applied.
import { expect, test } from 'vitest';
import { hasApplied, noteApplied } from '../../../../src/vscode/workspace/appliedCode.ts';

function open(text: string) {
  const document = { version: 1, text, getText: () => document.text };
  const write = (next: string) => Object.assign(document, { text: next, version: document.version + 1 });
  return { document, write };
}

test('the first save after code was applied contains it, for every listener; later saves do not', () => {
  const { document, write } = open('const tea = 1;\n');
  noteApplied(document, 'const milk = 2;');
  write('const tea = 1;\nconst milk = 2;\n');
  expect([hasApplied(document), hasApplied(document)]).toEqual([true, true]);
  write('const tea = 1;\nconst milk = 2;\n// mine\n');
  expect(hasApplied(document)).toBe(false);
});

test('code that a formatter has indented is found; code that was undone, blank code and another document are not', () => {
  const { document, write } = open('');
  noteApplied(document, 'if (tea) {\npour();\n}');
  write('if (tea) {\n  pour();\n}\n');
  expect(hasApplied(document)).toBe(true);
  const other = open('if (tea) {\n  pour();\n}\n');
  expect(hasApplied(other.document)).toBe(false);
  noteApplied(other.document, ' \n');
  expect(hasApplied(other.document)).toBe(false);
  const undone = open('a\n');
  noteApplied(undone.document, 'b');
  expect(hasApplied(undone.document)).toBe(false);
});
