// What the model knows of files, in the twelve ways in which it can come to differ from the disk. Every list is compared with
// the disk by hash.
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { countFreshness, readFreshness } from '../../../src/core/knowledge/freshness.ts';
import { fileRenamed, fileUnsaved } from '../../../src/core/notify/wording/fileChange.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { type FileFreshness } from '../../../src/protocol/page/freshnessView.ts';
import { atTestEnd } from '../../support/endings.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';
import { beginFamily, call, done, start } from '../../support/walk/subagentWalks.ts';
import { type BufferedWorkspace, createBufferedWorkspace } from '../../support/workspace/bufferedWorkspace.ts';

const LINES = Array.from({ length: 60 }, (_, index) => `tea number ${index + 1}`);
const TEXT = `${LINES.join('\n')}\n`;
const SMALL = TEXT.replace('number 7\n', 'number seven\n');
/** Too much for a notification. */
const LARGE = `${LINES.map((line) => `${line}, and much more about it`).join('\n')}\n`;

async function begin() {
  const server = await startScriptedServer();
  atTestEnd(() => server.stop());
  let workspace: BufferedWorkspace | undefined;
  let headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
    settings: { 'approvals.mode': 'all' },
    editor: (folder) => (workspace = createBufferedWorkspace(folder)),
  });
  atTestEnd(() => headless.end());
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  const log = (): ConversationLog => {
    const live = headless.earshot.get(id);
    if (live === undefined) throw new Error('closed');
    return live.log;
  };
  const go = async (...calls: ReturnType<typeof call>[]) => {
    server.restart(...(calls.length > 0 ? [{ calls }] : []), { text: ['Done.'] });
    expect((await headless.earshot.send(id, 'Go on.')).ok).toBe(true);
    await headless.earshot.settled(id);
    return server.requests.at(-1)?.body ?? '';
  };
  return {
    id,
    log,
    go,
    get headless() {
      return headless;
    },
    get workspace() {
      if (workspace === undefined) throw new Error('no workspace');
      return workspace;
    },
    write: (path: string, text: string) => writeFile(join(headless.folder, path), text),
    read: (...paths: string[]) => go(...paths.map((path) => call('read_file', { path }))),
    list: async () => {
      const files = await readFreshness(headless.ports, log().state.seen);
      await agreesWithDisk(headless, files);
      return Object.fromEntries(files.map((file) => [file.path, file]));
    },
    queued: (path: string) =>
      expect.poll(() => log().state.pending.notifications.map(({ subject }) => subject)).toContain(`file:${path}`),
    publish: (draft: Omit<NotificationDraft, 'at'>) =>
      headless.earshot.publish({ ...draft, at: new Date().toISOString() }, id),
    restart: async (meanwhile: () => Promise<void>) => {
      const { folder } = headless;
      expect(folder).not.toBe('');
      await headless.earshot.close(id);
      await meanwhile();
      headless = await headless.restart();
      const again = await headless.earshot.open(id);
      if (!again.ok) throw new Error(again.failure.message);
    },
  };
}

/** The present hash of each file is that of its bytes, and the state says whether they are those that the model has. */
async function agreesWithDisk({ ports }: Headless, files: readonly FileFreshness[]): Promise<void> {
  for (const { path, state, seen, now } of files) {
    if (state === 'forgotten') continue;
    const file = await ports.workspace.resolve(path);
    const read = file.ok ? await ports.workspace.readLocally(file.value) : file;
    expect([path, now]).toEqual([path, read.ok ? ports.snapshots.hash(read.value.bytes) : undefined]);
    if (state === 'current' || state === 'reported') expect(now).toBe(seen);
    else if (!(state === 'pending' && now === seen)) expect(now).not.toBe(seen);
  }
}

/** Calls of one answer end in any order. */
function statesIn(files: Readonly<Record<string, FileFreshness>>): readonly (readonly string[])[] {
  return Object.values(files)
    .map(({ path, state, notified }) => [path, state, notified])
    .sort();
}

test('changed, pending, reported, not shown whole, changed back, deleted, read by command, a range only', async () => {
  const one = await begin();
  const paths = ['same.txt', 'small.txt', 'large.txt', 'back.txt', 'gone.txt', 'cat.txt', 'part.txt'];
  for (const path of paths) await one.write(path, TEXT);
  await one.read('same.txt', 'small.txt', 'large.txt', 'back.txt', 'gone.txt');
  await one.go(call('run_command', { command: 'cat cat.txt' }));
  await one.go(call('read_file', { path: 'part.txt', first_line: 2, last_line: 9 }));
  const before = await one.list();
  expect(Object.values(before).map(({ state }) => state)).toEqual(paths.map(() => 'current'));
  expect(before['part.txt']?.lines).toEqual([[2, 9]]);
  expect(before['cat.txt']?.lines).toBeUndefined();
  expect(Date.parse(before['cat.txt']?.at ?? '')).toBeLessThanOrEqual(Date.now());
  expect(countFreshness(one.log().state.seen)).toEqual({ current: 7, reported: 0, pending: 0, unshown: 0, deleted: 0 });

  // Changed back before it was delivered.
  await one.write('back.txt', SMALL);
  await one.queued('back.txt');
  expect((await one.list())['back.txt']).toMatchObject({ state: 'pending', notified: 'pending' });
  await one.write('back.txt', TEXT);
  await expect.poll(() => one.log().state.pending.count).toBe(0);
  expect((await one.list())['back.txt']).toMatchObject({ state: 'current', notified: 'no' });

  await one.write('small.txt', SMALL);
  await one.write('large.txt', LARGE);
  await one.write('cat.txt', SMALL);
  await one.write('part.txt', SMALL);
  await rm(join(one.headless.folder, 'gone.txt'));
  for (const path of ['small.txt', 'large.txt', 'cat.txt', 'part.txt', 'gone.txt']) await one.queued(path);
  const pending = await one.list();
  expect(statesIn(pending)).toEqual([
    ['back.txt', 'current', 'no'],
    ['cat.txt', 'pending', 'pending'],
    ['gone.txt', 'deleted', 'pending'],
    ['large.txt', 'pending', 'pending'],
    ['part.txt', 'pending', 'pending'],
    ['same.txt', 'current', 'no'],
    ['small.txt', 'pending', 'pending'],
  ]);
  expect(countFreshness(one.log().state.seen)).toEqual({ current: 2, reported: 0, pending: 4, unshown: 0, deleted: 1 });

  await one.go();
  const delivered = await one.list();
  expect(statesIn(delivered)).toEqual([
    ['back.txt', 'current', 'no'],
    ['cat.txt', 'reported', 'delivered'],
    ['gone.txt', 'deleted', 'delivered'],
    ['large.txt', 'unshown', 'delivered'],
    ['part.txt', 'reported', 'delivered'],
    ['same.txt', 'current', 'no'],
    ['small.txt', 'reported', 'delivered'],
  ]);
  // A difference shows small parts of what was read in part.
  expect(delivered['part.txt']?.lines).toEqual([]);
  expect(delivered['large.txt']?.updatable).toBe(true);
  expect(countFreshness(one.log().state.seen)).toEqual({ current: 2, reported: 3, pending: 0, unshown: 1, deleted: 1 });

  // Changed back after it was delivered: the model believes that it has changed.
  await one.write('large.txt', TEXT);
  await one.queued('large.txt');
  expect((await one.list())['large.txt']).toMatchObject({ state: 'pending', notified: 'pending' });
  await one.go();
  expect((await one.list())['large.txt']).toMatchObject({ state: 'reported' });

  // The model gets the same list.
  await one.write('same.txt', LARGE);
  await one.queued('same.txt');
  await one.go();
  const asked = await one.go(call('read_notifications', { stale: true }));
  expect(asked).toContain('2 of 7 files in your context are not as you know them');
  expect(asked).toMatch(
    /- same\.txt: changed; you were not shown the whole change\. You know all of it as of \d\d:\d\d:\d\d\./,
  );
  expect(asked).toContain('- gone.txt: no longer there.');
});

test('renamed, unsaved and withheld', async () => {
  const one = await begin();
  for (const path of ['old.txt', 'typed.txt', 'secret.txt']) await one.write(path, TEXT);
  await one.read('old.txt', 'typed.txt', 'secret.txt');
  const { hash } = one.log().state.seen.get('old.txt') ?? { hash: '' };
  await rename(join(one.headless.folder, 'old.txt'), join(one.headless.folder, 'new.txt'));
  await one.publish(fileRenamed('old.txt', 'new.txt', [{ from: 'old.txt', to: 'new.txt', hash }]));
  expect((await one.list())['old.txt']).toMatchObject({ state: 'deleted', notified: 'pending', moved_to: 'new.txt' });

  one.workspace.type('typed.txt', SMALL);
  expect((await one.list())['typed.txt']).toMatchObject({ state: 'unreported', unsaved: true, updatable: true });
  const typed = one.headless.ports.snapshots.hash(Buffer.from(SMALL));
  await one.headless.ports.snapshots.put(Buffer.from(SMALL));
  await one.publish(fileUnsaved('typed.txt', Buffer.from(TEXT), { bytes: Buffer.from(SMALL), hash: typed }));
  expect((await one.list())['typed.txt']).toMatchObject({ state: 'pending', unsaved: true });

  await one.write('.earshotignore', 'secret.txt\n');
  expect((await one.list())['secret.txt']).toMatchObject({
    state: 'current',
    reason: expect.stringContaining('secret') as string,
  });
  await one.write('secret.txt', SMALL);
  expect((await one.list())['secret.txt']).toMatchObject({ state: 'withheld' });
  await one.queued('secret.txt');
  expect((await one.list())['secret.txt']).toMatchObject({ state: 'withheld', notified: 'pending' });

  await one.go();
  const list = await one.list();
  expect(list['old.txt']).toMatchObject({ state: 'deleted', notified: 'delivered', moved_to: 'new.txt' });
  expect(list['new.txt']).toMatchObject({ state: 'current', seen: hash });
  expect(list['typed.txt']).toMatchObject({ state: 'reported', unsaved: true, seen: typed });
  expect(list['secret.txt']).toMatchObject({ state: 'withheld', notified: 'delivered' });
});

test('after a compaction what the summary no longer holds is not known; reading it again makes it known', async () => {
  const one = await begin();
  for (const path of ['a.txt', 'b.txt']) await one.write(path, TEXT);
  await one.read('a.txt', 'b.txt');
  const through = one.log().state.pending.through;
  await one.log().append({ type: 'compaction', summary: 'Tea.', through });
  await one.write('a.txt', SMALL);
  expect(Object.values(await one.list()).map(({ state }) => state)).toEqual(['forgotten', 'forgotten']);
  expect(countFreshness(one.log().state.seen)).toBeNull();
  await one.read('b.txt');
  expect((await one.list())['b.txt']).toMatchObject({ state: 'current' });
  expect(countFreshness(one.log().state.seen)).toMatchObject({ current: 1 });
});

test('after a compaction the lines that a search shows are known again, and only they', async () => {
  const one = await begin();
  await one.write('a.txt', TEXT);
  await one.read('a.txt');
  await one.log().append({ type: 'compaction', summary: 'Tea.', through: one.log().state.pending.through });
  await one.go(call('run_command', { command: 'grep -n "number 7$" a.txt' }));
  expect((await one.list())['a.txt']).toMatchObject({ state: 'current', lines: [[7, 7]] });
  expect(countFreshness(one.log().state.seen)).toMatchObject({ current: 1 });
  await one.write('a.txt', SMALL);
  await one.queued('a.txt');
  expect((await one.list())['a.txt']).toMatchObject({ state: 'pending' });
});

test('a file that changed while the window was closed is compared with the disk at once, and reported soon', async () => {
  const one = await begin();
  for (const path of ['a.txt', 'b.txt']) await one.write(path, TEXT);
  await one.read('a.txt', 'b.txt');
  await one.restart(() => one.write('a.txt', SMALL));
  const list = await one.list();
  expect(['unreported', 'pending']).toContain(list['a.txt']?.state);
  expect(list['b.txt']).toMatchObject({ state: 'current' });
  await one.queued('a.txt');
  expect((await one.list())['a.txt']).toMatchObject({ state: 'pending' });
});

test('a file that a subagent has read is known to the subagent, not to its parent', async () => {
  const family = await beginFamily([{ calls: [start('reader')] }, done], {
    reader: [{ calls: [call('read_file', { path: 'tea.txt' })] }, { text: ['Read.'] }],
  });
  await writeFile(join(family.headless.folder, 'tea.txt'), TEXT);
  await family.go();
  await family.ended('reader');
  const { earshot, ports } = family.headless;
  const seenBy = (id: string) => earshot.get(id)?.log.state.seen;
  const [parent, child] = [seenBy(family.id), seenBy(family.child('reader'))];
  if (parent === undefined || child === undefined) throw new Error('closed');
  expect(await readFreshness(ports, parent)).toEqual([]);
  expect(countFreshness(parent)).toBeNull();
  const files = await readFreshness(ports, child);
  await agreesWithDisk(family.headless, files);
  expect(files).toMatchObject([{ path: 'tea.txt', state: 'current' }]);
});
