// Edit and resend, and retry of an earlier message: the new text is sent in a fork that ends before that message; the
// original stays.
import { expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { planRestore, restore } from '../../../src/core/checkpoints/restore.ts';
import { Library } from '../../../src/core/library.ts';
import { ForkOrigins, resend, rewind } from '../../../src/vscode/chat/resending.ts';
import { atTestEnd } from '../../support/endings.ts';
import { silentLogger } from '../../support/log/memoryStorage.ts';
import { eventsOf } from '../../support/walk/deliveryWalks.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

function depsOf({ headless }: Walked) {
  const { earshot, ports } = headless;
  const opened: string[] = [];
  const open = async (id: string) => {
    const result = await earshot.open(id);
    if (!result.ok) throw new Error(result.failure.message);
    opened.push(id);
  };
  const deps = {
    ...{ earshot, open, library: new Library(ports, earshot) },
    t: (text: string) => text,
  };
  return { deps, opened };
}

/** What a fork shows of its original; `next` resolves with what is shown next. */
function followOrigins({ headless }: Walked, fork: string) {
  const { earshot, ports, handles } = headless;
  const refreshed = new Emitter<void>((error) => expect(error).toBeUndefined());
  let shownHead = Promise.withResolvers<unknown>();
  const follow = () => {
    const origins = new ForkOrigins({
      ...{ earshot, handles, store: ports.store, chat: { shown: fork, onDidRefresh: refreshed.event } },
      frontend: { setHead: ({ origin }) => shownHead.resolve(origin) },
      logger: silentLogger,
    });
    atTestEnd(async () => origins.dispose());
    return origins;
  };
  const next = () => {
    shownHead = Promise.withResolvers();
    return shownHead.promise;
  };
  return { follow, refreshed, next };
}

const saidIn = (walk: Walked, request: number) =>
  (walk.messages(request) as { role: string; content: unknown }[])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => content);

test('a changed message is sent in a fork that ends before it; a changed first message in a new conversation', async () => {
  const answers = ['One.', 'Two.', 'Other.', 'First.'].map((text) => ({ text: [text] }));
  const walk = await beginWalk(answers);
  await walk.go('Read the menu.');
  await walk.go('Add oolong.');
  const [first, second] = await eventsOf(walk, 'chat_request');
  const before = await walk.headless.events(walk.id);
  const { deps, opened } = depsOf(walk);

  expect(await resend(deps, walk.id, second?.event_id ?? '', 'Add assam.')).toMatchObject({ ok: true });
  await deps.earshot.settled(opened[0] ?? '');
  expect(saidIn(walk, 2)).toEqual(['Read the menu.', 'Add assam.']);

  expect(await resend(deps, walk.id, first?.event_id ?? '', undefined)).toMatchObject({ ok: true });
  await deps.earshot.settled(opened[1] ?? '');
  expect(saidIn(walk, 3)).toEqual(['Read the menu.']);
  expect(await walk.headless.events(walk.id)).toBe(before);
  expect(await resend(deps, walk.id, 'none', 'x')).toMatchObject({ ok: false, failure: { code: 'not_found' } });
});

test('a conversation restored to before a message continues in a fork with that message in the composer', async () => {
  const walk = await beginWalk(['One.', 'Two.', 'Other.'].map((text) => ({ text: [text] })));
  await walk.go('Read the menu.');
  const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
  const image = { type: 'image', mediaType: 'image/png', bytes, name: 'shot.png' } as const;
  await walk.headless.earshot.send(walk.id, 'Add oolong.', { attachments: [image] });
  await walk.headless.earshot.settled(walk.id);
  const [, second] = await eventsOf(walk, 'chat_request');
  const before = await walk.headless.events(walk.id);
  const { deps, opened } = depsOf(walk);
  const restored: unknown[] = [];
  const composing = { restoreMessages: async (texts: readonly unknown[]) => void restored.push(...texts) };

  expect(await rewind({ ...deps, composing }, walk.id, second?.event_id ?? '')).toMatchObject({ ok: true });
  expect(restored).toMatchObject([{ content: 'Add oolong.', attachments: [{ type: 'image', name: 'shot.png' }] }]);
  const [fork = ''] = opened;
  const state = deps.earshot.get(fork)?.log.state;
  expect(state?.summary).toMatchObject({ forkedFrom: walk.id, resentRequest: second?.event_id });
  expect(state?.transcript.items.map(({ type }) => type)).toEqual(['request', 'answer']);
  // Nothing was sent, and nothing of the original is lost.
  expect(walk.server.requests).toHaveLength(2);
  expect(await walk.headless.events(walk.id)).toBe(before);
  expect(await rewind({ ...deps, composing }, walk.id, 'none')).toMatchObject({ failure: { code: 'not_found' } });
});

test('a turn that is still running ends before its message is sent again', async () => {
  const walk = await beginWalk([{ text: ['Hanging'], hang: true }, { text: ['Again.'] }]);
  const begun = walk.server.request(0);
  expect(await walk.headless.earshot.send(walk.id, 'Boil water.')).toMatchObject({ ok: true });
  await begun;
  const [request] = await eventsOf(walk, 'chat_request');
  const { deps, opened } = depsOf(walk);
  expect(await resend(deps, walk.id, request?.event_id ?? '', undefined)).toMatchObject({ ok: true });
  await deps.earshot.settled(opened[0] ?? '');
  expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['stopped']);
  expect(saidIn(walk, 1)).toEqual(['Boil water.']);
});

test('a fork names its original with the files to review and the commands that run there, also when the original is closed', async () => {
  const call = (id: string, args: object) => ({ id, name: 'run_command', arguments: args });
  const walk = await beginWalk(
    [
      { calls: [call('a', { command: 'echo new > made.txt; echo new > other.txt' })] },
      { calls: [call('b', { command: 'sleep 600', background: true, handle: 'server' })] },
      { text: ['Done.'] },
      { text: ['Again.'] },
    ],
    { checkpoints: true, settings: { 'notifications.activation': 'passive' } },
  );
  const { earshot, ports, handles, frontend } = walk.headless;
  frontend.answer = async () => ({ action: 'approve', by: 'user' });
  await walk.go('Start the server.');
  const [request] = await eventsOf(walk, 'chat_request');
  const { deps, opened } = depsOf(walk);
  expect(await resend(deps, walk.id, request?.event_id ?? '', 'Start it.')).toMatchObject({ ok: true });
  const fork = opened[0] ?? '';
  await earshot.settled(fork);

  const { follow, refreshed, next } = followOrigins(walk, fork);
  const origins = follow();
  const original = { id: walk.id, title: 'A title', request: request?.event_id };
  const first = next();
  refreshed.fire();
  expect(await first).toEqual({ ...original, unreviewed: 2, commands: 1 });
  // The end of the command is shown without any action in the fork.
  const second = next();
  await handles.stopAll(walk.id, 'the test stops it');
  expect(await second).toEqual({ ...original, unreviewed: 2 });

  await earshot.close(walk.id);
  await earshot.close(fork);
  const listed = await ports.store.list();
  const summaries = listed.ok ? listed.value : [];
  expect(summaries.find(({ id }) => id === fork)).toMatchObject({ forkedFrom: walk.id });
  expect(summaries.find(({ id }) => id === walk.id)).toMatchObject({ unreviewed: 2 });
  await earshot.open(fork);
  origins.dispose();
  follow();
  const third = next();
  refreshed.fire();
  expect(await third).toEqual({ ...original, unreviewed: 2 });
});

test('once the files of the original are restored, a fork does not offer to restore them, also when the original is closed', async () => {
  const walk = await beginWalk(
    [
      { calls: [{ id: 'a', name: 'run_command', arguments: { command: 'echo new > made.txt' } }] },
      { text: ['Done.'] },
      { text: ['Again.'] },
    ],
    { checkpoints: true, settings: { 'notifications.activation': 'passive' } },
  );
  const { earshot, frontend } = walk.headless;
  frontend.answer = async () => ({ action: 'approve', by: 'user' });
  await walk.go('Make a file.');
  const [request] = await eventsOf(walk, 'chat_request');
  const { deps, opened } = depsOf(walk);
  const composing = { restoreMessages: async () => undefined };
  expect(await rewind({ ...deps, composing }, walk.id, request?.event_id ?? '')).toMatchObject({ ok: true });
  const fork = opened[0] ?? '';
  const { follow, refreshed, next } = followOrigins(walk, fork);
  const origins = follow();
  const original = { id: walk.id, title: 'A title' };
  const offered = next();
  refreshed.fire();
  expect(await offered).toEqual({ ...original, request: request?.event_id, unreviewed: 1 });
  // The review of the original is shown without any action in the fork.
  const restored = next();
  const files = reviewing(walk).deps;
  const plan = await value(planRestore(files, request?.event_id ?? ''));
  await value(restore(files, plan, plan.entries));
  expect(await restored).toEqual(original);
  origins.dispose();

  await earshot.close(walk.id);
  follow();
  const closed = next();
  refreshed.fire();
  expect(await closed).toEqual(original);
});
