// Lock files removed or damaged while their owner lives: there is still only one owner, and nothing acknowledged is
// lost.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { openOrFollow } from '../../../src/core/conversation/opening.ts';
import { type HeldLock } from '../../../src/core/ports/storage.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type EventDraft } from '../../../src/protocol/event.ts';
import { createStorage, type Storage } from '../../../src/storage/storage.ts';
import { memoryWindow, openLog, pathOf, silentLogger } from '../../support/log/memoryStorage.ts';
import { createScriptedModel } from '../../support/models/scriptedModel.ts';
import { startHeadless } from '../../support/walk/headless.ts';

const ID = '01J0000000000000000000000A';
let folder = '';
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-lost-'));
});

afterEach(async () => {
  child?.kill('SIGKILL');
  child = undefined;
  await rm(folder, { recursive: true, force: true });
});

function windowHere(): Storage {
  return createStorage({
    files: realFileSystem,
    folder,
    clock: realClock,
    ids: realIds,
    logger: silentLogger,
    window: 'here',
  });
}

const place = (name: string) => join(folder, 'conversations', ID, name);

/** Starts another process that owns the conversation and prints what happens to its lock. */
async function ownElsewhere(): Promise<ChildProcess> {
  const source = (path: string) => JSON.stringify(resolve(import.meta.dirname, '../../../src', path));
  const program = `
    const { createStorage } = await import(${source('storage/storage.ts')});
    const { realFileSystem } = await import(${source('node/files/fileSystem.ts')});
    const { realClock } = await import(${source('node/realClock.ts')});
    const { realIds } = await import(${source('node/realIds.ts')});
    const quiet = () => undefined;
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const parts = { files: realFileSystem, clock: realClock, ids: realIds, logger: log, window: 'elsewhere' };
    const { lock } = createStorage({ ...parts, folder: ${JSON.stringify(folder)} });
    const held = await lock.acquire(${JSON.stringify(ID)});
    held?.onDidLose(() => console.log('lost'));
    console.log(held === undefined ? 'refused' : 'held');
    setInterval(() => held, 1000);`;
  child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(await nextLine(child)).toBe('held');
  return child;
}

async function nextLine(process: ChildProcess): Promise<string> {
  const [chunk] = (await once(process.stdout ?? process, 'data')) as [Buffer];
  return chunk.toString().trim();
}

test('a removed lock file allows no second owner while the first lives, and is created again', async () => {
  const owner = await ownElsewhere();
  await rm(place('lock.db'));
  expect(await windowHere().lock.acquire(ID)).toBeUndefined();
  // With both files gone, the owner locks the new file as soon as it notices. It is stopped meanwhile, because it must
  // not see only one of them missing.
  owner.kill('SIGSTOP');
  await rm(place('lock.db'), { force: true });
  await rm(place('owner.json'), { force: true });
  owner.kill('SIGCONT');
  await expect
    .poll(() => readFile(place('owner.json'), 'utf8').catch(() => ''), { timeout: 30_000 })
    .toContain('elsewhere');
  expect(await windowHere().lock.acquire(ID)).toBeUndefined();
  const gone = once(owner, 'exit');
  owner.kill('SIGKILL');
  await gone;
  const held = await windowHere().lock.acquire(ID);
  expect(held).toBeDefined();
  await held?.release();
});

test('an owner whose files another window took at the same time releases the lock', async () => {
  const owner = await ownElsewhere();
  owner.kill('SIGSTOP');
  await rm(place('lock.db'));
  await rm(place('owner.json'));
  const held = await windowHere().lock.acquire(ID);
  expect(held).toBeDefined();
  const printed = nextLine(owner);
  owner.kill('SIGCONT');
  expect(await printed).toBe('lost');
  expect(await readFile(place('owner.json'), 'utf8')).toContain('here');
  await held?.release();
});

test('a lock file with garbage can still be locked', async () => {
  const { lock } = windowHere();
  const first = await lock.acquire(ID);
  await first?.release();
  await writeFile(place('lock.db'), 'garbage '.repeat(100));
  const held = await lock.acquire(ID);
  expect(held).toBeDefined();
  expect(await lock.acquire(ID)).toBeUndefined();
  await held?.release();
});

const title = (text: string): EventDraft => ({ type: 'title_set', title: text });

test('with two owners unaware of each other, everything that either acknowledged is read, in every order', async () => {
  const window = memoryWindow();
  const first = await openLog(window, ID);
  await first.append({ type: 'conversation_started', key: 'key-of-a-conversation' });
  const second = await openLog(window, ID);
  const acknowledged: string[] = [];
  const write = async (log: ConversationLog, text: string) => {
    try {
      await log.append(title(text));
      acknowledged.push(text);
    } catch {
      await log.repair();
    }
  };
  for (let round = 0; round < 60; round++) {
    const one = () => write(first, `first in round ${round}`);
    const other = () => write(second, `second in round ${round}`);
    if (round % 3 === 0) await Promise.all([one(), other()]);
    else for (const step of round % 3 === 1 ? [one, other] : [other, one]) await step();
  }
  await first.close();
  await second.close();
  const read = await window.storage.store.read(ID);
  if (!read.ok) throw new Error(read.failure.message);
  const titles = new Set(read.value.events.flatMap((event) => (event.type === 'title_set' ? [event.title] : [])));
  expect(acknowledged.length).toBeGreaterThan(20);
  expect(acknowledged.filter((text) => !titles.has(text))).toEqual([]);
});

test('a log that was removed or replaced while it is owned acknowledges nothing', async () => {
  const window = memoryWindow();
  const log = await openLog(window, ID);
  await log.append({ type: 'conversation_started', key: 'key-of-a-conversation' });
  window.files.poke(pathOf(ID), Buffer.from('something else\n'));
  await expect(log.append(title('Lost?'))).rejects.toThrow('Another program has changed this conversation’s log.');
  await log.close();
});

test('a window that lost its lock writes nothing more and follows', async () => {
  const model = createScriptedModel();
  const lost = Promise.withResolvers<void>();
  const listeners: (() => void)[] = [];
  const headless = await startHeadless({ model, ports: { producers: [] } });
  const { lock } = headless.ports;
  const acquire = lock.acquire.bind(lock);
  Object.assign(lock, {
    acquire: async (id: string): Promise<HeldLock | undefined> => {
      const held = await acquire(id);
      if (held === undefined) return undefined;
      const onDidLose: HeldLock['onDidLose'] = (listener) => {
        listeners.push(() => listener());
        return { dispose: () => undefined };
      };
      return { handedOver: false, onDidRequest: held.onDidRequest, onDidLose, release: () => held.release() };
    },
  });
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  const listening = headless.earshot.onDidChange(({ reset }) => reset === true && lost.resolve());
  for (const lose of listeners) lose();
  await lost.promise;
  listening.dispose();
  expect(headless.earshot.get(id)?.owned).toBe(false);
  expect(await headless.earshot.send(id, 'Still mine?')).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
  await headless.end();
});

test('opening with a lock that cannot be created fails with a message', async () => {
  await writeFile(join(folder, 'conversations'), 'a file where the folder should be');
  const { store, lock } = windowHere();
  expect(await openOrFollow({ store, lock }, ID)).toMatchObject({ ok: false, failure: { code: 'storage' } });
});
