// Records an hour of ordinary work as its tools really touch files: `node test/noise/record.ts` writes recording.jsonl beside it.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { watch } from 'chokidar';
import { realClock } from '../../src/node/realClock.ts';
import { GitRepository } from '../../src/producers/gitRepository.ts';
import { findGitFolder } from '../../src/producers/gitState.ts';
import { type Recorded } from './recorded.ts';

const fail = (error: unknown): never => {
  throw error;
};
const root = resolve(import.meta.dirname, '../..');
const folder = await mkdtemp(join(tmpdir(), 'earshot-noise-'));
const recording: Recorded[] = [];
/** People work for a while between two things that tools do: an hour has so many of them. */
const SECONDS_BETWEEN = 120;
let [began, action] = [Date.now(), 0];

function note(entry: Recorded extends infer R ? (R extends unknown ? Omit<R, 'at'> : never) : never): void {
  recording.push({ at: action * SECONDS_BETWEEN * 1000 + (Date.now() - began), ...entry });
}

/** What a person does next. Whatever its tools still write afterwards belongs to it. */
async function step(label: string, run: () => Promise<void>): Promise<void> {
  action += 1;
  began = Date.now();
  note({ type: 'step', label });
  await run();
  await pause(1500);
}

/** In a terminal of the editor. */
async function command(line: string): Promise<void> {
  const env = {
    ...process.env,
    PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'A'],
        [`GIT_${who}_EMAIL`, 'a@example.com'],
      ]),
    ),
  };
  const { exitCode, output } = await new Promise<{ exitCode: number; output: string }>((done) => {
    execFile('sh', ['-c', line], { cwd: folder, env }, (error, stdout, stderr) =>
      done({
        exitCode: typeof error?.code === 'number' ? error.code : 0,
        output: (stdout + stderr).replaceAll(folder, '/shop'),
      }),
    );
  });
  note({ type: 'command', commandLine: line, exitCode, output: output.slice(-4000) });
}

async function save(path: string, change: (text: string) => string): Promise<void> {
  const file = join(folder, path);
  const before = await readFile(file, 'utf8').catch(() => '');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, change(before));
  note({ type: 'save', path });
}

const source = (index: number) =>
  `export function part${index}(value: number): number {\n  return value + ${index};\n}\n`;
const test = `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { part1 } from '../dist/part1.js';\n\ntest('adds', () => {\n  assert.equal(part1(1), 2);\n});\n`;

await mkdir(join(folder, 'src'), { recursive: true });
await mkdir(join(folder, 'test'), { recursive: true });
await mkdir(join(folder, 'vendor/tea'), { recursive: true });
const files: Record<string, string> = {
  '.gitignore': 'node_modules/\ndist/\ncoverage/\n',
  'package.json': '{\n  "name": "shop",\n  "type": "module",\n  "private": true\n}\n',
  'tsconfig.json':
    '{ "compilerOptions": { "outDir": "dist", "rootDir": "src", "module": "nodenext", "target": "es2022", "strict": true, "declaration": true, "sourceMap": true, "types": [] }, "include": ["src"] }\n',
  'biome.json': '{ "formatter": { "indentStyle": "space" }, "linter": { "enabled": false } }\n',
  'README.md': '# Shop\n',
  'test/parts.test.js': test,
  'vendor/tea/package.json': '{ "name": "tea", "version": "1.0.0", "main": "index.js" }\n',
  'vendor/tea/index.js': 'module.exports = {};\n',
};
for (let index = 1; index <= 30; index += 1) files[`src/part${index}.ts`] = source(index);
for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
for (let index = 0; index < 200; index += 1)
  await writeFile(join(folder, `vendor/tea/leaf${index}.js`), `// ${index}\n`);
await mkdir(join(folder, 'node_modules'));
await symlink(join(root, 'node_modules/typescript'), join(folder, 'node_modules/typescript'));
await command('git init -q -b main && git add -A && git commit -qm one');
await command(
  'git switch -qc feature && sed -i s/value/amount/g src/part1.ts src/part2.ts src/part9.ts && git commit -qam two && git switch -q main',
);
recording.length = 0;

const start: Record<string, string> = {};
for (const path of Object.keys(files)) start[path] = await readFile(join(folder, path), 'utf8');
const gitFolder = await findGitFolder(folder);
if (gitFolder === undefined) throw new Error('there is a repository');
const repository = await GitRepository.open({
  folder: gitFolder,
  clock: realClock,
  trusted: true,
  settled: async (settled) => note({ type: 'git', settled: { ...settled, since: Date.now() - settled.since } }),
  report: fail,
  broke: fail,
});
const watcher = watch(folder, { ignoreInitial: true, ignored: (path) => /[\\/]\.git([\\/]|$)/.test(path) });
await new Promise<void>((ready) => watcher.on('ready', ready));
for (const [event, type] of [
  ['add', 'created'],
  ['change', 'changed'],
  ['unlink', 'deleted'],
] as const) {
  watcher.on(event, (absolute) => {
    const path = relative(folder, absolute).split('\\').join('/');
    const heavy = /^(node_modules|dist|coverage|vendor)\//.test(path);
    const text = type === 'deleted' || heavy ? undefined : readFile(absolute, 'utf8').catch(() => undefined);
    const at = action * SECONDS_BETWEEN * 1000 + (Date.now() - began);
    const entry = { at, type: 'touch', touch: type, path } as Recorded & { text?: string };
    recording.push(entry);
    const keep = (read: string | undefined) => {
      // Where this machine keeps the tools is nobody's business.
      if (read !== undefined) entry.text = read.replaceAll(relative(folder, root), '../tools');
    };
    if (text !== undefined) void text.then(keep).catch(fail);
  });
}

const edit = (path: string, line: string) => save(path, (text) => `${text}${line}\n`);
for (let round = 1; round <= 3; round += 1) {
  await step('three saves of a file that was read', async () => {
    for (const letter of ['a', 'b', 'c']) {
      await edit('src/part1.ts', `export const ${letter}${round} = ${round};`);
      await pause(400);
    }
  });
  await step('the formatter over everything', () => command('biome format --write src > /dev/null'));
  await step('a build that writes dist', () => command('tsc -p .'));
  await step('the same build again', () => command('tsc -p .'));
  await step('the tests', () => command('node --test --experimental-test-coverage test/parts.test.js > /dev/null'));
  await step('saves of files that were not read', async () => {
    for (const index of [20, 21, 22]) await edit(`src/part${index}.ts`, `export const more${round} = ${index};`);
  });
  await step('a save without a change', () => save('src/part3.ts', (text) => text));
  await step('a commit', () => command('git add -A && git commit -qm more'));
  await step('over to a branch and back', () => command('git switch -q feature && sleep 1 && git switch -q main'));
}
await step('a mistake that the compiler finds', async () => {
  await edit('src/part4.ts', 'export const wrong: string = 1;');
  await command('tsc -p .');
});
await step('mended', async () => {
  await save('src/part4.ts', (text) => text.replace('export const wrong: string = 1;\n', ''));
  await command('tsc -p .');
});
await step('a dependency', () => command('npm install --offline --no-audit --no-fund --install-links ./vendor/tea'));
await watcher.close();
repository.dispose();
recording.sort((a, b) => a.at - b.at);
await writeFile(
  join(import.meta.dirname, 'recording.jsonl'),
  `${[{ start }, ...recording].map((entry) => JSON.stringify(entry)).join('\n')}\n`,
);
await rm(folder, { recursive: true, force: true });
process.stdout.write(`${recording.length} entries\n`);
