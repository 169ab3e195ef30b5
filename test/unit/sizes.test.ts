// Limits on file lengths, files per folder, and code loaded at activation; a head comment in every source file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { host, page } from '../../esbuild.mjs';
import { staticallyLoaded } from '../support/loadedCode.ts';

const root = resolve(import.meta.dirname, '../..');
const LIMIT = 400;
/** One thing each: the events of the log, the verbs of a client, and what core needs from outside. */
const LONGER: Readonly<Record<string, number>> = {
  'src/protocol/event.ts': 450,
  'src/protocol/client/verbs.ts': 450,
  'src/core/ports/ports.ts': 450,
};
const FOLDER_LIMIT = 20;

/** Every file that we write, without recorded data and the sample project. */
const written = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/host/sample/') && !file.includes('/golden/'));
const files = written.filter((file) => /\.(ts|tsx|mjs|css)$/.test(file));

test('no file is longer than 400 lines', () => {
  const lines = (file: string) => readFileSync(resolve(root, file), 'utf8').trimEnd().split('\n').length;
  expect(files.length).toBeGreaterThan(60);
  expect(files.filter((file) => lines(file) > (LONGER[file] ?? LIMIT))).toEqual([]);
});

test('no folder has more than 20 files, the root included; the page of a folder does not count', () => {
  const counted = written.filter((file) => !/^src\/.+\/README\.md$/.test(file));
  const folders = Map.groupBy(counted, (file) => dirname(file));
  expect([...folders.keys()]).toEqual(expect.arrayContaining(['.', 'media', 'src/webview', 'test/host']));
  expect([...folders].filter(([, inside]) => inside.length > FOLDER_LIMIT).map(([folder]) => folder)).toEqual([]);
});

test('every source file begins with a head comment', () => {
  const silent = files.filter(
    (file) =>
      /^(src|test\/(host|support))\/.*\.(ts|tsx|mjs)$/.test(file) &&
      !/^(#!.*\n)?\/\/ \S/.test(readFileSync(resolve(root, file), 'utf8')),
  );
  expect(silent).toEqual([]);
});

test('activation loads less than 25 KB, from vscode, storage and base only', async () => {
  const { metafile } = await build({ ...host, minify: true, sourcemap: false, write: false, logLevel: 'warning' });
  const loaded = staticallyLoaded(metafile, 'dist/extension.js');
  // The goal is 250 KB. The limit is far lower, because one wrong import would load everything else.
  expect(loaded.bytes).toBeLessThan(25_000);
  expect(loaded.inputs.filter((file) => !/^src\/(vscode|storage|base)\//.test(file))).toEqual([]);
});

test('the chat page is at most 260 KB, without the grammars that are loaded later', async () => {
  const { metafile } = await build({ ...page, minify: true, sourcemap: false, write: false, logLevel: 'warning' });
  expect(staticallyLoaded(metafile, 'dist/webview/chat.js').bytes).toBeLessThanOrEqual(260_000);
});
