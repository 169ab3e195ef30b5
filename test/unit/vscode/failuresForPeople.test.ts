// Failures that VS Code shows are put into words for people: their own messages name arguments and tools for the model.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const source = resolve(import.meta.dirname, '../../../src/vscode');

/** The page itself puts what it gets into words. */
const RAW: readonly string[] = ['chat/obstacles.ts', 'failureMessage.ts'];

const isRaw = (text: string) => /\bfailure\??\.message\b|\bdescribeFailure\(/.test(text);

test('no other file of the window shows the message of a failure as it is', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const found = files.filter((name) => isRaw(readFileSync(join(source, name), 'utf8')));
  expect(found.filter((name) => !RAW.includes(name))).toEqual([]);
  expect(isRaw('show(done.failure.message)')).toBe(true);
});
