// Two front ends on one conversation, end to end: the chat and a plugin. The first answer wins.
import { expect, test } from 'vitest';
import { ChatFrontend } from '../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../src/core/frontend/chatHead.ts';
import { type AnsweredRequest, type AttachedFrontend, Frontends } from '../../src/core/frontend/frontends.ts';
import { type ApprovalAnswer, type InquiryAnswer } from '../../src/core/ports/ports.ts';
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

/** A plugin that answers when the test tells it to. */
function createPlugin() {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<AnsweredRequest>();
  const approval = Promise.withResolvers<ApprovalAnswer>();
  const inquiry = Promise.withResolvers<InquiryAnswer>();
  const signals: AbortSignal[] = [];
  const frontend: AttachedFrontend = {
    render: () => undefined,
    approve: (_request, signal) => {
      signals.push(signal);
      asked.resolve();
      return approval.promise;
    },
    ask: (_request, signal) => {
      signals.push(signal);
      asked.resolve();
      return inquiry.promise;
    },
    answeredElsewhere: (request) => answered.resolve(request),
  };
  return {
    frontend,
    asked: asked.promise,
    answered: answered.promise,
    signals,
    approve: () => approval.resolve({ action: 'approve', by: 'plugin:tea' }),
    answer: (text: string) => inquiry.resolve({ answer: text, by: 'plugin:tea' }),
  };
}

async function begin(first: ScriptedAnswer) {
  const errors: string[] = [];
  const frontends = new Frontends({ clock: realClock, logger: recordingLogger(errors) });
  const walk = await beginWalk([first, done], { ports: { frontend: frontends } });
  const chat = new ChatFrontend(realClock, head, (error) => expect(error).toBeUndefined());
  atTestEnd(async () => chat.dispose());
  const { earshot } = walk.headless;
  const listening = earshot.onDidChange(({ conversation, folded }) => {
    if (folded !== undefined) chat.appended(conversation, folded);
  });
  atTestEnd(async () => listening.dispose());
  const add = (frontend: AttachedFrontend) => {
    const attached = frontends.add(frontend);
    atTestEnd(async () => attached.dispose());
    return attached;
  };
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
    const waiting = [chat.onDidChangeRequests(check), earshot.onDidChange(check)];
    await promise;
    for (const one of waiting) one.dispose();
  };
  return { walk, add, chat, card, turn, shown, errors };
}

test('an approval answered by a plugin closes the card of the chat, which names the plugin', async () => {
  const { walk, add, chat, card, turn, shown, errors } = await begin(command);
  const plugin = createPlugin();
  add(chat);
  add(plugin.frontend);
  const open = shown();
  await turn();
  await Promise.all([plugin.asked, open]);
  expect(card()).toMatchObject({ state: 'approval' });
  plugin.approve();
  await walk.headless.earshot.settled(walk.id);
  expect(chat.openRequests.length).toBe(0);
  expect(card()).toMatchObject({
    state: 'done',
    answeredBy: 'plugin:tea',
    output: expect.stringContaining('one') as string,
  });
  expect(chat.answerApproval('a', { action: 'reject', by: 'user' })).toBe(false);
  expect(await walk.headless.events(walk.id)).toContain('"by":"plugin:tea"');
  expect([...errors, ...walk.headless.errors]).toEqual([]);
});

test('an approval answered in the chat is cancelled in the plugin, which learns who answered', async () => {
  const { walk, add, chat, card, turn, shown, errors } = await begin(command);
  const plugin = createPlugin();
  add(chat);
  add(plugin.frontend);
  const open = shown();
  await turn();
  await Promise.all([plugin.asked, open]);
  expect(chat.answerApproval('a', { action: 'approve', by: 'user' })).toBe(true);
  expect(await plugin.answered).toMatchObject({
    type: 'approval',
    request: { conversation: walk.id, call: { id: 'a' } },
    answer: { action: 'approve', by: 'user' },
  });
  expect(plugin.signals.map(({ aborted }) => aborted)).toEqual([true]);
  // A late answer changes nothing.
  plugin.approve();
  await walk.headless.earshot.settled(walk.id);
  expect(card()?.answeredBy).toBeUndefined();
  expect(await walk.headless.events(walk.id)).not.toContain('plugin:tea');
  expect(errors).toEqual([]);
});

test('a plugin that joins while a question is open can answer it, and the chat shows its answer', async () => {
  const { walk, add, chat, card, turn, shown, errors } = await begin(question);
  add(chat);
  const open = shown();
  await turn();
  await open;
  expect(card()).toMatchObject({ state: 'question' });
  const plugin = createPlugin();
  add(plugin.frontend);
  await plugin.asked;
  plugin.answer('sencha');
  await walk.headless.earshot.settled(walk.id);
  expect(chat.openRequests.length).toBe(0);
  expect(card()).toMatchObject({ state: 'done', answeredBy: 'plugin:tea', question: { answer: 'sencha' } });
  expect(errors).toEqual([]);
});

test('a plugin that leaves while an approval is open leaves it to the chat', async () => {
  const { walk, add, chat, card, turn, shown, errors } = await begin(command);
  const plugin = createPlugin();
  add(chat);
  const attached = add(plugin.frontend);
  const open = shown();
  await turn();
  await Promise.all([plugin.asked, open]);
  attached.dispose();
  expect(plugin.signals.map(({ aborted }) => aborted)).toEqual([true]);
  plugin.approve();
  expect(card()).toMatchObject({ state: 'approval' });
  chat.answerApproval('a', { action: 'reject', by: 'user' });
  await walk.headless.earshot.settled(walk.id);
  expect(card()).toMatchObject({ state: 'rejected' });
  expect(errors).toEqual([]);
});
