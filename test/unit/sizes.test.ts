// No file grows over 400 lines, and each says at its head what it decides; activation loads little JavaScript.
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

test('no file is over 400 lines', () => {
  const long = files.filter((file) => readFileSync(resolve(root, file), 'utf8').trimEnd().split('\n').length > LIMIT);
  expect(files.length).toBeGreaterThan(60);
  expect(long).toEqual([]);
});

test('every source file says in its first line what it decides', () => {
  const silent = files.filter(
    (file) =>
      /^(src|test\/(host|support))\/.*\.(ts|tsx|mjs)$/.test(file) &&
      !/^(#!.*\n)?\/\/ \S/.test(readFileSync(resolve(root, file), 'utf8')),
  );
  expect(silent).toEqual([]);
});

test('activation loads the shell and nothing else', async () => {
  const { metafile } = await build({ ...host, minify: true, sourcemap: false, write: false, logLevel: 'warning' });
  const loaded = staticallyLoaded(metafile, 'dist/extension.js');
  // The goal is 250 KB; what is far below it is held there, since one import of the wrong file brings the rest.
  expect(loaded.bytes).toBeLessThan(25_000);
  expect(loaded.inputs.filter((file) => !/^src\/(vscode|storage|base)\//.test(file))).toEqual([]);
});
