// Which windows show a conversation, with several windows and dead processes.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { createStorage } from '../../../src/storage/storage.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

async function twoWindows() {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-views-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const clock = createManualClock();
  const logger = recordingLogger([]);
  const window = () => createStorage({ files: realFileSystem, folder, clock, ids: realIds, logger, window: 'w' }).views;
  return { folder, clock, one: window(), two: window(), id: realIds.ulid() };
}

test('a conversation is shown while any window shows it', async () => {
  const { one, two, id } = await twoWindows();
  expect(await one.isShown(id)).toBe(false);
  two.show(id);
  await two.isShown(id);
  expect(await one.isShown(id)).toBe(true);
  two.show(undefined);
  await two.isShown(id);
  expect(await one.isShown(id)).toBe(false);
});

test('typing in another window counts for ten seconds, in this one never', async () => {
  const { one, two, id, clock } = await twoWindows();
  two.show(id);
  two.typed();
  await two.isShown(id);
  expect([await one.isTypedElsewhere(id), await two.isTypedElsewhere(id)]).toEqual([true, false]);
  clock.advance(10_000);
  expect(await one.isTypedElsewhere(id)).toBe(false);
});

test('the file of a window that died does not count and is removed, also if its process id is used again', async () => {
  const { folder, one, id } = await twoWindows();
  const place = join(folder, 'conversations', id);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'events.jsonl'), '');
  await writeFile(join(place, 'view-1-a.json'), JSON.stringify({ pid: 2 ** 30, start_time: 'x' }));
  await writeFile(join(place, 'view-2-b.json'), JSON.stringify({ pid: process.pid, start_time: 'another boot' }));
  await writeFile(join(place, 'view-3-c.json'), 'damaged');
  expect(await one.isShown(id)).toBe(false);
  expect((await readdir(place)).sort()).toEqual(['events.jsonl', 'view-3-c.json']);
});
