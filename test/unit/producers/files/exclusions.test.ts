// .gitignore files in every folder exclude unseen files as git does.
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createExclusions } from '../../../../src/producers/files/exclusions.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const rules: Record<string, string> = {
  '.gitignore': 'node_modules/\ndist/\n*.log\n!keep.log\n/top.txt\n# a comment\n',
  'src/.gitignore': '!built.log\ntmp/\ngenerated\n',
  'src/deep/.gitignore': '*\n!.gitignore\n!wanted.ts\n',
};
const paths = [
  'a.ts',
  'a.log',
  'keep.log',
  'top.txt',
  'src/top.txt',
  'dist/a.js',
  'src/dist/a.js',
  'node_modules/x/y.js',
  'src/built.log',
  'src/other.log',
  'src/tmp/a',
  'src/generated',
  'src/generated2',
  'src/deep/a.ts',
  'src/deep/wanted.ts',
  'src/deep/deeper/a.ts',
];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-ignored-'));
  for (const path of [...Object.keys(rules), ...paths]) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), rules[path] ?? '');
  }
  execFileSync('git', ['-C', folder, 'init', '-q']);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(paths)('%s', async (path) => {
  const exclusions = createExclusions(createFolderWorkspace(folder));
  let ignored = true;
  try {
    execFileSync('git', ['-C', folder, 'check-ignore', '-q', path]);
  } catch {
    ignored = false;
  }
  expect(await exclusions.excludes(path)).toBe(ignored);
});

test('git’s own folder is excluded, and changed rules apply at once', async () => {
  const exclusions = createExclusions(createFolderWorkspace(folder));
  expect(await exclusions.excludes('.git/HEAD')).toBe(true);
  expect(await exclusions.excludes('later.ts')).toBe(false);
  await writeFile(join(folder, '.gitignore'), 'later.ts\n');
  exclusions.touched('.gitignore');
  expect(await exclusions.excludes('later.ts')).toBe(true);
});
