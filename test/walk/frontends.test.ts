// Two front ends on one conversation, end to end: the chat and a plugin. The first answer wins.
import { expect, test } from 'vitest';
import { type OpenRequest, type RequestChange, type Requests } from '../../src/core/client/requests.ts';
import { ChatFrontend } from '../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../src/core/frontend/chatHead.ts';
import { Frontends } from '../../src/core/frontend/frontends.ts';
import { realClock } from '../../src/node/realClock.ts';
import { type TranscriptItem } from '../../src/protocol/transcript.ts';
import { type ToPage } from '../../src/protocol/webview.ts';
import { atTestEnd } from '../support/endings.ts';
import { type ScriptedAnswer } from '../support/models/scriptedServer.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { beginWalk } from '../support/walk/walking.ts';

const done: ScriptedAnswer = { text: ['Done.'] };
const command: ScriptedAnswer = { calls: [{ id: 'a', name: 'run_command', arguments: { command: 'echo one' } }] };
const question: ScriptedAnswer = { calls: [{ id: 'a', name: 'ask_user', arguments: { question: 'Which tea?' } }] };

const head = emptyChatHead({ version: '1', hostVersion: '2' }, { label: 'm', detail: 'd' });

/** A second front end, which answers when the test tells it to. */
function createPlugin(requests: Requests) {
  const asked = Promise.withResolvers<OpenRequest>();
  const answered = Promise.withResolvers<RequestChange>();
  for (const open of requests.all) asked.resolve(open);
  const listening = requests.onDidChange((change) => {
    if (change.type === 'closed') answered.resolve(change);
    else asked.resolve(change.open);
  });
  atTestEnd(async () => listening.dispose());
  const by = 'plugin:tea';
  return {
    asked: asked.promise,
    answered: answered.promise,
    approve: (conversation: string) =>
      requests.answer({ type: 'approval', conversation, id: 'a', answer: { action: 'approve', by } }),
    reply: async (text: string) => {
      const { id } = await asked.promise;
      return requests.answer({ type: 'question', id, answer: { answer: text, by } });
    },
  };
}

async function begin(first: ScriptedAnswer) {
  const errors: string[] = [];
  const frontends = new Frontends({ clock: realClock, logger: recordingLogger(errors) });
  const walk = await beginWalk([first, done], { ports: { frontend: frontends } });
  const { requests } = frontends;
  const chat = new ChatFrontend(realClock, head, requests);
  const attached = frontends.add(chat);
  atTestEnd(async () => attached.dispose());
  atTestEnd(async () => chat.dispose());
  const { earshot } = walk.headless;
  const listening = earshot.onDidChange(({ conversation, folded }) => {
    if (folded !== undefined) chat.appended(conversation, folded);
  });
  atTestEnd(async () => listening.dispose());
  chat.show(walk.id, []);
  const card = () => {
    const posted: ToPage[] = [];
    chat.attach((message) => posted.push(message));
    chat.detach();
    const [snapshot] = posted;
    const items = snapshot?.type === 'snapshot' ? snapshot.state.items : [];
    return items.find((item): item is Extract<TranscriptItem, { type: 'tool' }> => item.type === 'tool');
  };
  const turn = async () => {
    const sent = await earshot.send(walk.id, 'Hello.');
    expect(sent.ok).toBe(true);
  };
  /** Resolves once the card in the chat waits for the user. */
  const shown = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (card()?.state === 'approval' || card()?.state === 'question') resolve();
    };
    const waiting = [requests.onDidChange(check), earshot.onDidChange(check)];
    await promise;
    for (const one of waiting) one.dispose();
  };
  /** Answers on the card; returns whether the answer was accepted. */
  const answer = (action: 'approve' | 'reject') =>
    requests.answer({ type: 'approval', conversation: walk.id, id: 'a', answer: { action, by: 'user' } }).ok;
  return { walk, requests, answer, card, turn, shown, errors };
}

test('an approval answered by a plugin closes the card of the chat, which names the plugin', async () => {
  const { walk, requests, answer, card, turn, shown, errors } = await begin(command);
  const plugin = createPlugin(requests);
  const open = shown();
  await turn();
  await Promise.all([plugin.asked, open]);
  expect(card()).toMatchObject({ state: 'approval' });
  plugin.approve(walk.id);
  await walk.headless.earshot.settled(walk.id);
  expect(requests.all).toEqual([]);
  expect(card()).toMatchObject({
    state: 'done',
    answeredBy: 'plugin:tea',
    output: expect.stringContaining('one') as string,
  });
  expect(answer('reject')).toBe(false);
  expect(await walk.headless.events(walk.id)).toContain('"by":"plugin:tea"');
  expect([...errors, ...walk.headless.errors]).toEqual([]);
});

test('an approval answered in the chat is closed for the plugin, which learns who answered', async () => {
  const { walk, requests, answer, card, turn, shown, errors } = await begin(command);
  const plugin = createPlugin(requests);
  const open = shown();
  await turn();
  await Promise.all([plugin.asked, open]);
  expect(answer('approve')).toBe(true);
  expect(await plugin.answered).toMatchObject({
    open: { type: 'approval', conversation: walk.id, id: 'a' },
    answer: { action: 'approve', by: 'user' },
  });
  // A late answer changes nothing.
  expect(plugin.approve(walk.id)).toMatchObject({ ok: false });
  await walk.headless.earshot.settled(walk.id);
  expect(card()?.answeredBy).toBeUndefined();
  expect(await walk.headless.events(walk.id)).not.toContain('plugin:tea');
  expect(errors).toEqual([]);
});

test('a plugin that joins while a question is open can answer it, and the chat shows its answer', async () => {
  const { walk, requests, card, turn, shown, errors } = await begin(question);
  const open = shown();
  await turn();
  await open;
  expect(card()).toMatchObject({ state: 'question' });
  const plugin = createPlugin(requests);
  expect(await plugin.reply('sencha')).toMatchObject({ ok: true });
  await walk.headless.earshot.settled(walk.id);
  expect(requests.all).toEqual([]);
  expect(card()).toMatchObject({ state: 'done', answeredBy: 'plugin:tea', question: { answer: 'sencha' } });
  expect(errors).toEqual([]);
});
