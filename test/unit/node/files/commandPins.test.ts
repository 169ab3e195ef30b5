// Which code a command runs: what is pinned, what cannot be determined, and what counts as the workspace's.
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inspectProgram } from '../../../../src/node/files/fingerprint.ts';

const IMAGE = `ghcr.io/a/b@sha256:${'0'.repeat(64)}`;

let folder: string;
let programs: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'earshot-pins-')));
  programs = await realpath(await mkdtemp(join(tmpdir(), 'earshot-bin-')));
});
afterEach(() => Promise.all([folder, programs].map((one) => rm(one, { recursive: true }))));

async function write(files: Readonly<Record<string, string>>, base = folder): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, name)), { recursive: true });
    await writeFile(join(base, name), text);
  }
}

/** Programs are only looked up, never run, so any executable file will do. */
async function inspect(
  [name = '', ...args]: readonly string[],
  options: { configured?: Readonly<Record<string, string>>; roots?: readonly string[] } = {},
) {
  const program = name.includes('/') ? join(folder, name) : join(programs, name);
  if (!name.includes('/')) {
    await write({ [name]: '' }, programs);
    await chmod(program, 0o755);
  }
  const { configured = {}, roots = [folder] } = options;
  const found = await inspectProgram({ program, args, folder, roots, env: { PATH: programs }, configured });
  const names = found.paths.slice(1).map((path) => (path.startsWith(folder) ? relative(folder, path) : path));
  return { names, unpinned: found.unpinned.map(({ kind, what }) => `${kind} ${what}`), own: !found.isInWorkspace };
}

test.each([
  { command: ['npx', '-y', '@scope/server@1.2.3', '.'], names: [], unpinned: [], own: true },
  { command: ['npx', '-y', '@scope/server'], names: [], unpinned: ['package @scope/server'], own: true },
  { command: ['npx', '-y', 'server@1.2'], names: [], unpinned: ['package server@1.2'], own: true },
  { command: ['npx', '-y', 'server@latest'], names: [], unpinned: ['package server@latest'], own: true },
  { command: ['uvx', '--from', 'pkg==1.2.3', 'server'], names: [], unpinned: [], own: true },
  { command: ['uvx', 'server'], names: [], unpinned: ['package server'], own: true },
  { command: ['docker', 'run', '-i', '--rm', '-e', 'A', IMAGE], names: [], unpinned: [], own: true },
  { command: ['docker', 'run', '-i', '--rm', 'ghcr.io/a/b'], names: [], unpinned: ['program docker'], own: true },
  { command: ['docker', 'run', '-v', '.:/w', 'image'], names: [], unpinned: ['program docker'], own: true },
  { command: ['npx', './tool'], names: [], unpinned: ['package ./tool'], own: false },
  { command: ['npx', '-c', 'x'], names: [], unpinned: ['program npx', 'package x'], own: true },
  { command: ['uvx', '--from', '.', 'server'], names: [], unpinned: ['package .'], own: false },
  { command: ['uv', 'run', 'server'], names: [], unpinned: ['program uv'], own: false },
  { command: ['docker', 'compose', 'up'], names: [], unpinned: ['program docker'], own: false },
  { command: ['some-server', '--root', '.'], names: [], unpinned: ['program some-server'], own: true },
  { command: ['python3.12', '-u', 'tool.py'], names: ['tool.py'], unpinned: [], own: false },
  { command: ['python3', '-m', 'tool'], names: ['tool.js', 'tool.py'], unpinned: ['program python'], own: false },
  { command: ['node', '--run', 'x'], names: [], unpinned: ['program node'], own: true },
  { command: ['node', '-e', '1'], names: [], unpinned: ['program node'], own: true },
  { command: ['node.exe', 'tool'], names: ['tool.js'], unpinned: [], own: false },
  {
    command: ['node', '--env-file=.env', 'tool.js'],
    names: ['.env', 'tool.js'],
    unpinned: ['program node'],
    own: false,
  },
  { command: ['node', 'tool.js', '--config=a.yaml'], names: ['tool.js', 'a.yaml'], unpinned: [], own: false },
  { command: ['node', '-r', 'absent', 'tool.js'], names: ['tool.js'], unpinned: [], own: false },
  { command: ['env', '-C', 'sub', 'node', 'tool.js'], names: ['tool.js'], unpinned: ['program env'], own: false },
])('$command', async ({ command, ...expected }) => {
  await write({ 'tool.js': ';', 'tool.py': 'import os\n', '.env': 'A=1', 'a.yaml': 'tool.py', 'tool/x': '' });
  await write({ node: '' }, programs);
  await chmod(join(programs, 'node'), 0o755);
  const { names, ...found } = await inspect(command);
  expect({ ...found, names: names.filter((name) => !name.startsWith(programs)) }).toEqual(expected);
});

test('npx runs a package of the workspace if there is one, and an .npmrc can name another registry', async () => {
  const command = ['npx', '-y', '@scope/server@1.2.3'];
  await write({ 'package.json': '{}' });
  expect(await inspect(command)).toEqual({ names: ['package.json'], unpinned: [], own: true });
  await write({ '.npmrc': 'registry=https://example.org/' });
  expect(await inspect(command)).toEqual({ names: ['.npmrc', 'package.json'], unpinned: [], own: false });
  await write({ '.npmrc': 'node-options=--require ./x.js' });
  expect((await inspect(command)).unpinned).toEqual(['program .npmrc']);
  await write({ '.npmrc': '', 'node_modules/.bin/server': '' });
  expect(await inspect(command)).toMatchObject({ unpinned: ['package @scope/server@1.2.3'], own: false });
});

test('a program in the workspace that is no script may load what is beside it, also through a link', async () => {
  await write({ 'bin/python': 'ELF' });
  await symlink('/bin/sh', join(folder, 'sh'));
  expect(await inspect(['bin/python', 'x'])).toEqual({ names: [], unpinned: ['program bin/python'], own: false });
  expect(await inspect(['./sh', 'x'])).toMatchObject({ unpinned: ['program sh'], own: false });
});

test('a folder of PATH in the workspace, and variables that load code, are not pinned; others are not mentioned', async () => {
  await write({ 'tool.js': ';', 'pre.js': ';' });
  const configured = { PATH: '/usr/bin:./tools', LD_PRELOAD: './x.so', NODE_OPTIONS: '--import=./pre.js', TOKEN: 'a' };
  expect(await inspect(['node', 'tool.js'], { configured })).toMatchObject({
    names: ['tool.js', 'pre.js'],
    unpinned: ['variable PATH', 'variable LD_PRELOAD', 'variable NODE_OPTIONS'],
  });
  const harmless = { PATH: '/usr/bin', PYTHONUNBUFFERED: '1', NODE_ENV: 'x', ROOT: folder };
  expect((await inspect(['node', 'tool.js'], { configured: harmless })).unpinned).toEqual([]);
});

test.each([
  ["import x from './a.js'; export * from \"./b.mjs\"; import('./c.cjs')", ['a.js', 'b.mjs', 'c.cjs'], []],
  ["require('./d'); require.resolve(`./a`)", ['d/index.js', 'a.js'], []],
  ["import 'node:fs'; import 'absent'; // require a file", [], []],
  ["require('./' + name)", [], ['loads main.js']],
  ['import(`./${name}.js`)', [], ['loads main.js']],
  ["const load = require; load('./a')", ['a.js'], ['loads main.js']],
  ["spawn('node', ['./a.js'], require('child_process'))", ['a.js'], ['loads main.js']],
  ["import '#inner'", [], ['package #inner']],
])('the code %s names its files', async (text, names, unpinned) => {
  await write({ 'a.js': '', 'b.mjs': '', 'c.cjs': '', 'd/index.js': '', 'main.js': text });
  const found = await inspect(['node', 'main.js']);
  expect({ ...found, names: found.names.slice(1).sort() }).toEqual({ names: names.sort(), unpinned, own: false });
});

test('a loop of imports ends, and after 500 files the rest is not pinned', async () => {
  const files = Array.from({ length: 600 }, (_, at) => [`f${at}.js`, `require('./f${(at + 1) % 600}.js')`] as const);
  await write(Object.fromEntries(files));
  const found = await inspect(['node', 'f0.js']);
  expect(found.unpinned).toEqual(['many 500']);
  await write({ 'f9.js': "require('./f0.js')" });
  expect((await inspect(['node', 'f0.js'])).unpinned).toEqual([]);
});
