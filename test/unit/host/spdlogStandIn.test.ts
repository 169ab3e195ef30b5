// The JavaScript replacement of spdlog writes the same as the native module.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAsyncRotatingLogger } from '../../host/install/standIns/spdlog.mjs';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-log-'));
});

afterEach(() => rm(folder, { recursive: true }));

// The expectations were recorded from the native module.
test('lines equal those of the native module', async () => {
  const file = join(folder, 'deep', 'output.log');
  const logger = await createAsyncRotatingLogger('name', file, 10_000, 3);
  logger.setPattern();
  logger.setLevel(1);
  logger.trace('not shown');
  logger.debug('wörld\nsecond');
  logger.warn('careful');
  logger.clearFormatters();
  logger.info('raw');
  logger.info(' line\n');
  logger.drop();
  logger.info('too late');
  const text = (await readFile(file, 'utf8')).replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/g, 'TIME');
  expect(text).toBe('TIME [debug] wörld\nsecond\nTIME [warning] careful\nraw line\n');
});

test('a full log file is renamed with a number', async () => {
  const logger = await createAsyncRotatingLogger('name', join(folder, 'a.log'), 10, 2);
  logger.clearFormatters();
  for (const text of ['first', 'second', 'third', 'fourth']) logger.info(text.padEnd(8));
  logger.drop();
  expect((await readdir(folder)).sort()).toEqual(['a.1.log', 'a.2.log', 'a.log']);
  expect(await readFile(join(folder, 'a.1.log'), 'utf8')).toBe('third   ');
});
