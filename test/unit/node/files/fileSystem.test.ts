// Guarantees of the real disk, as far as they can be tested; power loss is tested on an in-memory disk.
import { constants } from 'node:fs';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-disk-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('appends follow one another, also after a truncation', async () => {
  const path = join(folder, 'log');
  const file = await realFileSystem.openForAppend(path);
  await file.append(Buffer.from('one\n'));
  await file.append(Buffer.from('half a li'));
  await file.truncate(4);
  await file.sync();
  await file.append(Buffer.from('two\n'));
  await file.sync();
  await file.close();
  expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
});

test.runIf(process.platform === 'linux')('a write to the log returns once it is on disk', async () => {
  const path = join(folder, 'log');
  const file = await realFileSystem.openForAppend(path);
  const flags = await flagsOf(path);
  await file.close();
  // The kernel's flags of the open file: without O_DSYNC, a separate `sync` would be needed.
  expect(flags & constants.O_DSYNC).toBe(constants.O_DSYNC);
  expect(flags & constants.O_APPEND).toBe(constants.O_APPEND);
});

async function flagsOf(path: string): Promise<number> {
  for (const descriptor of await readdir('/proc/self/fd')) {
    if ((await readlink(join('/proc/self/fd', descriptor)).catch(() => '')) !== path) continue;
    const described = await readFile(join('/proc/self/fdinfo', descriptor), 'utf8');
    return Number.parseInt(/^flags:\s*(\d+)$/m.exec(described)?.[1] ?? '', 8);
  }
  return Number.NaN;
}
