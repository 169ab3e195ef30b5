// What the user wrote in other conversations: the newest first, each once, bounded, and read again only after activity.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Prompts } from '../../../../src/core/conversation/prompts.ts';
import { type Store } from '../../../../src/core/ports/storage.ts';
import { createGuideModel } from '../../../../src/models/guide/guide.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { realIds } from '../../../../src/node/realIds.ts';
import { createStorage } from '../../../../src/storage/storage.ts';
import { silentLogger } from '../../../support/log/memoryStorage.ts';
import { type Headless, startHeadless } from '../../../support/walk/headless.ts';

let window: Headless;
let prompts: Prompts;
let scanned: string[];

beforeEach(async () => {
  window = await startHeadless({ model: createGuideModel() });
  const parts = { clock: realClock, ids: realIds, logger: silentLogger, window: 'test' };
  const { store } = createStorage({ files: realFileSystem, folder: window.storage, ...parts });
  scanned = [];
  const scan: Store['scan'] = (id, after) => {
    scanned.push(id);
    return store.scan(id, after);
  };
  prompts = new Prompts({ list: () => store.list(), scan });
});

afterEach(() => window.end());

async function write(...texts: readonly string[]): Promise<string> {
  const opened = await window.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  await writeTo(id, ...texts);
  return id;
}

async function writeTo(id: string, ...texts: readonly string[]): Promise<void> {
  const log = window.earshot.get(id)?.log;
  // Without a turn, which would take longer.
  for (const [index, content] of texts.entries()) {
    await log?.append(
      index % 2 === 0
        ? { type: 'chat_request', source: 'user', content }
        : { type: 'user_text_queued', content: `${content} with a prompt file`, typed: content },
    );
  }
  // The next conversation is written to later by the clock, too.
  const now = Date.now();
  await expect.poll(() => Date.now() > now, { interval: 1 }).toBe(true);
}

test('the prompts of other conversations are listed, the newest first and each once', async () => {
  const first = await write('oldest', 'twice');
  const second = await write('middle', 'twice');
  const shown = await write('of the shown one');
  await writeTo(first, 'newest');
  expect(await prompts.ofOthers(shown)).toEqual(['newest', 'twice', 'middle', 'oldest']);
  expect(await prompts.ofOthers(undefined)).toContain('of the shown one');
  expect(await prompts.ofOthers(second)).toEqual(['newest', 'of the shown one', 'twice', 'oldest']);
});

test('only conversations with new activity are read again, and very long texts are left out', async () => {
  const first = await write('one');
  const second = await write('two', 'x'.repeat(30_000));
  expect(await prompts.ofOthers(undefined)).toEqual(['two', 'one']);
  expect(scanned.sort()).toEqual([first, second].sort());
  scanned.length = 0;
  expect(await prompts.ofOthers(undefined)).toEqual(['two', 'one']);
  expect(scanned).toEqual([]);
  await writeTo(first, 'three');
  expect(await prompts.ofOthers(undefined)).toEqual(['three', 'two', 'one']);
  expect(scanned).toEqual([first]);
});
