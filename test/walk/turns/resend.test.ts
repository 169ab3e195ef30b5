// Edit and resend, and retry of an earlier message: the new text is sent in a fork that ends before that message; the
// original stays.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { Emitter } from '../../../src/base/emitter.ts';
import { planRestore, restore } from '../../../src/core/checkpoints/restore.ts';
import { Frontends } from '../../../src/core/frontend/frontends.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { ForkOrigins } from '../../../src/vscode/chat/forkOrigins.ts';
import { atTestEnd } from '../../support/endings.ts';
import { silentLogger } from '../../support/log/memoryStorage.ts';
import { eventsOf } from '../../support/walk/deliveryWalks.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { openClients, openPage } from '../../support/walk/walkedPage.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

/** Resolves to the fork that sends the message again, or to the failure's code. */
async function resend({ headless }: Walked, conversation: string, request: string, content?: string): Promise<string> {
  const client = openClients(headless).as({ by: 'user' });
  atTestEnd(async () => client.dispose());
  const resent = await client.call('resend', { conversation, instead_of: request, content });
  return resent.ok ? resent.value.conversation : resent.failure.code;
}

const pageOf = ({ headless }: Walked) => openPage(headless, new Frontends({ clock: realClock, logger: silentLogger }));

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
  const { earshot } = walk.headless;

  await earshot.settled(await resend(walk, walk.id, second?.event_id ?? '', 'Add assam.'));
  expect(saidIn(walk, 2)).toEqual(['Read the menu.', 'Add assam.']);

  await earshot.settled(await resend(walk, walk.id, first?.event_id ?? ''));
  expect(saidIn(walk, 3)).toEqual(['Read the menu.']);
  expect(await walk.headless.events(walk.id)).toBe(before);
  expect(await resend(walk, walk.id, 'none', 'x')).toBe('not_found');
});

test('a message that named a skill is sent again as it was typed, with the skill’s present text', async () => {
  const walk = await beginWalk(['One.', 'Two.'].map((text) => ({ text: [text] })));
  const file = join(walk.headless.folder, '.claude/skills/brew/SKILL.md');
  const write = (body: string) => writeFile(file, `---\nname: brew\ndescription: Brews.\n---\n\n${body}\n`);
  await mkdir(dirname(file), { recursive: true });
  await write('Boil the water.');
  await walk.go('/brew oolong');
  const [first] = await eventsOf(walk, 'chat_request');
  expect(first).toMatchObject({ typed: '/brew oolong', content: expect.stringContaining('Boil the water.') as string });
  await write('Warm the pot.');
  const { earshot } = walk.headless;
  const fork = await resend(walk, walk.id, first?.event_id ?? '');
  await earshot.settled(fork);
  const [request] = earshot.get(fork)?.log.state.transcript.items ?? [];
  expect(request).toMatchObject({ type: 'request', text: '/brew oolong' });
  const sent = String(saidIn(walk, 1)[0]);
  expect(sent).toContain('Warm the pot.');
  expect(sent).not.toContain('Boil the water.');
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
  const { page, state: shownState, until } = pageOf(walk);

  expect(await page.rewind(walk.id, second?.event_id ?? '')).toMatchObject({ ok: true });
  expect(shownState().returned.map(({ text }) => text)).toEqual(['Add oolong.']);
  await until(({ attachments }) => attachments?.[0]?.name === 'shot.png');
  const state = walk.headless.earshot.get(page.shown ?? '')?.log.state;
  expect(state?.summary).toMatchObject({ forkedFrom: walk.id, resentRequest: second?.event_id });
  expect(state?.transcript.items.map(({ type }) => type)).toEqual(['request', 'answer']);
  // Nothing was sent, and nothing of the original is lost.
  expect(walk.server.requests).toHaveLength(2);
  expect(await walk.headless.events(walk.id)).toBe(before);
  expect(await page.rewind(walk.id, 'none')).toMatchObject({ failure: { code: 'not_found' } });
});

test('a turn that is still running ends before its message is sent again', async () => {
  const walk = await beginWalk([{ text: ['Hanging'], hang: true }, { text: ['Again.'] }]);
  const begun = walk.server.request(0);
  expect(await walk.headless.earshot.send(walk.id, 'Boil water.')).toMatchObject({ ok: true });
  await begun;
  const [request] = await eventsOf(walk, 'chat_request');
  await walk.headless.earshot.settled(await resend(walk, walk.id, request?.event_id ?? ''));
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
  const fork = await resend(walk, walk.id, request?.event_id ?? '', 'Start it.');
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
  const { page } = pageOf(walk);
  expect(await page.rewind(walk.id, request?.event_id ?? '')).toMatchObject({ ok: true });
  const fork = page.shown ?? '';
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
