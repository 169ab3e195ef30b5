// The shared cache: complete or absent folders, clean-up, and folder names.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildWhole, cacheFolder, makeWritable, nameFor, removeAbandoned } from '../../host/install/cache.mjs';
import { UserError } from '../../host/console/errors.mjs';

let folder: string;
let target: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-cache-'));
  target = join(folder, 'thing');
});

afterEach(() => rm(folder, { recursive: true }));

async function fill(partial: string, content = 'whole'): Promise<string> {
  await mkdir(join(partial, 'inner'));
  await writeFile(join(partial, 'inner', 'file'), content);
  return join(partial, 'inner');
}

test('a finished build is renamed to its target and leaves no temporary folder', async () => {
  await buildWhole(target, (partial) => fill(partial));
  expect(await readFile(join(target, 'file'), 'utf8')).toBe('whole');
  expect(await readdir(folder)).toEqual(['thing']);
  await buildWhole(target, () => expect.unreachable('it is there already'));
});

test('a failed build leaves nothing behind', async () => {
  const build = async (partial: string) => {
    await fill(partial);
    throw new Error('half-way');
  };
  await expect(buildWhole(target, build)).rejects.toThrow('half-way');
  expect(await readdir(folder)).toEqual([]);
});

test('a killed build is never used and is removed by a later run', async () => {
  await buildInKilledProcess();
  const [left, ...others] = await readdir(folder);
  expect(left).toMatch(/^thing\..*\.tmp$/);
  expect(others).toEqual([]);
  expect(existsSync(target)).toBe(false);

  await buildWhole(target, (partial) => fill(partial));
  await removeAbandoned(folder);
  expect(await readdir(folder)).toEqual(['thing']);
});

test('of two concurrent builds the first to finish is kept and the other is discarded', async () => {
  const first = Promise.withResolvers<undefined>();
  const slow = buildWhole(target, async (partial) => {
    await first.promise;
    return fill(partial, 'second');
  });
  await buildWhole(target, (partial) => fill(partial, 'first'));
  first.resolve(undefined);
  await slow;
  expect(await readFile(join(target, 'file'), 'utf8')).toBe('first');
  expect(await readdir(folder)).toEqual(['thing']);
});

test('an unusable target is replaced by a build in the given nursery', async () => {
  await mkdir(target);
  await writeFile(join(target, 'file'), 'old');
  const isWhole = async () => (await readFile(join(target, 'file'), 'utf8').catch(() => '')) === 'whole';
  const nursery = join(folder, 'nursery');
  await buildWhole(target, (partial) => fill(partial), { isWhole, nursery });
  expect(await readFile(join(target, 'file'), 'utf8')).toBe('whole');
  expect(await readdir(nursery)).toEqual([]);
});

test('the temporary folder of a running build is not removed', async () => {
  const living = join(folder, `thing.00000000.${process.pid}.abcdef.tmp`);
  await mkdir(living);
  await removeAbandoned(folder);
  expect(existsSync(living)).toBe(true);
});

test('the error for an unwritable folder names it', async () => {
  await writeFile(join(folder, 'file'), '');
  const problem = makeWritable(join(folder, 'file', 'below'), 'Do something.');
  await expect(problem).rejects.toThrow(UserError);
  await expect(problem).rejects.toThrow(join(folder, 'file', 'below'));
});

test('the cache folder follows the convention of each platform', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/somewhere' }, 'linux')).toBe('/somewhere/earshot');
  expect(cacheFolder({ XDG_CACHE_HOME: 'relative' }, 'linux')).toMatch(/\/\.cache\/earshot$/);
  expect(cacheFolder({}, 'darwin')).toMatch(/Library\/Caches\/earshot$/);
  expect(cacheFolder({ LOCALAPPDATA: '/data' }, 'win32')).toBe('/data/earshot');
});

test('two folders of the same name get different state names', () => {
  expect(nameFor('/a/project ü')).toMatch(/^project-[-0-9a-f]+$/);
  expect(nameFor('/a/project')).not.toBe(nameFor('/b/project'));
});

async function buildInKilledProcess(): Promise<void> {
  const cache = pathToFileURL(join(import.meta.dirname, '../../host/install/cache.mjs')).href;
  const script = `
    import { writeFileSync } from 'node:fs';
    import { buildWhole } from ${JSON.stringify(cache)};
    await buildWhole(${JSON.stringify(target)}, async (partial) => {
      writeFileSync(partial + '/file', 'half');
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => setTimeout(() => {}, 60_000));
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
  expect(signal).toBe('SIGKILL');
}
