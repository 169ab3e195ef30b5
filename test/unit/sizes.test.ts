// Limits on file lengths and on the code loaded at activation; a head comment in every file.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { host } from '../../esbuild.mjs';
import { staticallyLoaded } from '../support/loadedCode.ts';

const root = resolve(import.meta.dirname, '../..');
const LIMIT = 400;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx', '*.mjs', '*.css'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/host/sample/'));

test('no file is longer than 400 lines', () => {
  const long = files.filter((file) => readFileSync(resolve(root, file), 'utf8').trimEnd().split('\n').length > LIMIT);
  expect(files.length).toBeGreaterThan(60);
  expect(long).toEqual([]);
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
  // The goal is 250 KB. The limit is far lower because one wrong import would load the rest.
  expect(loaded.bytes).toBeLessThan(25_000);
  expect(loaded.inputs.filter((file) => !/^src\/(vscode|storage|base)\//.test(file))).toEqual([]);
});
