// Two windows on one conversation: the owner writes, the other follows; *Continue here* hands over at the end of a cycle.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Clock } from '../../../src/base/clock.ts';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { describeState } from '../../support/log/memoryStorage.ts';
import { createManualClock, type ManualClock } from '../../support/manualClock.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let server: ScriptedServer;
const windows: Headless[] = [];

afterEach(async () => {
  for (const window of windows.splice(0).reverse()) await window.end();
  await server.stop();
});

async function twoWindows(...script: ScriptedAnswer[]) {
  server = await startScriptedServer(...script);
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined });
  const one = await startHeadless({ model });
  windows.push(one);
  const two = await one.second();
  windows.push(two);
  const first = await one.earshot.create();
  if (!first.ok) throw new Error(first.failure.message);
  const second = await two.earshot.open(first.value.log.id);
  if (!second.ok) throw new Error(second.failure.message);
  return { one, two, first: first.value, second: second.value, id: first.value.log.id };
}

/** Resolves once the condition holds, which is checked after each change. */
async function until(earshot: Earshot, holds: () => boolean): Promise<void> {
  if (holds()) return;
  await new Promise<void>((resolve) => {
    const listening = earshot.onDidChange(() => {
      if (!holds()) return;
      listening.dispose();
      resolve();
    });
  });
}

function alike(a: ConversationLog, b: ConversationLog): boolean {
  return JSON.stringify(describeState(a.state)) === JSON.stringify(describeState(b.state));
}

test('the second window follows, cannot write, and becomes the owner at once when idle', async () => {
  const { one, two, first, second, id } = await twoWindows({ text: ['Hello.'] }, { text: ['Hello again.'] });
  expect([first.owned, second.owned]).toEqual([true, false]);
  expect(two.earshot.get(id)?.owner).toMatchObject({ pid: process.pid, window: 'headless' });
  await one.earshot.send(id, 'Hello?');
  await one.earshot.settled(id);
  const { log } = second;
  await until(two.earshot, () => alike(first.log, log) && log.state.messages.count === 2);
  expect(await two.earshot.send(id, 'Mine.')).toMatchObject({ ok: false, failure: { code: 'not_owner' } });

  expect(await two.earshot.continueHere(id)).toEqual({ ok: true, value: undefined });
  await until(one.earshot, () => one.earshot.get(id)?.owned === false);
  expect(two.earshot.get(id)?.owned).toBe(true);
  expect(await two.earshot.send(id, 'Once more?')).toEqual({ ok: true, value: undefined });
  await two.earshot.settled(id);
  await until(one.earshot, () => alike(first.log, log) && first.log.state.messages.count === 4);
  expect(await one.earshot.send(id, 'Back?')).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
});

test('during a tool call the conversation is handed over at the end of the cycle, and the turn continues in the other window', async () => {
  const { one, two, first, second, id } = await twoWindows(
    { calls: [{ id: 'run', name: 'run_command', arguments: { command: 'cat pipe' } }] },
    { text: ['Done in the second window.'] },
  );
  execFileSync('mkfifo', [join(one.folder, 'pipe')]);
  await one.earshot.send(id, 'Run it.');
  await until(one.earshot, () => first.log.state.turn.unanswered[0]?.approval !== undefined);
  const taken = two.earshot.continueHere(id);
  expect(one.earshot.get(id)?.owned).toBe(true);
  await writeFile(join(one.folder, 'pipe'), 'output\n');
  expect(await taken).toEqual({ ok: true, value: undefined });
  await until(two.earshot, () => !second.log.state.turn.isOpen);
  const types = (await two.events(id))
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types.filter((type) => type === 'turn_started' || type === 'turn_ended')).toEqual([
    'turn_started',
    'turn_ended',
  ]);
  expect(second.log.state.messages.all.at(-1)).toMatchObject({ content: 'Done in the second window.' });
  expect(second.log.state.messages.all.at(-2)).toMatchObject({ role: 'tool', call: 'run' });
  await until(one.earshot, () => alike(first.log, second.log));
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('an open approval is asked again in the new owner', async () => {
  const { one, two, second, id } = await twoWindows(
    { calls: [{ id: 'run', name: 'run_command', arguments: { command: 'echo ran here' } }] },
    { text: ['Done.'] },
  );
  const asked = Promise.withResolvers<void>();
  one.frontend.answer = (_, signal) => {
    asked.resolve();
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true }),
    );
  };
  await one.earshot.send(id, 'Run it.');
  await asked.promise;
  expect(await two.earshot.continueHere(id)).toEqual({ ok: true, value: undefined });
  await until(two.earshot, () => !second.log.state.turn.isOpen);
  expect(two.frontend.asked.map(({ call }) => call.id)).toEqual(['run']);
  expect(second.log.state.messages.all).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool', content: expect.stringContaining('ran here') as unknown },
    { content: 'Done.' },
  ]);
  expect([one.errors, two.errors]).toEqual([[], []]);
});

interface LosableEditor {
  readonly clock: ManualClock;
  /** Makes the window's editor stop answering, as if its browser had been killed. */
  lose(): void;
  /** Resolves at the window's next request to its editor. */
  nextAsked(): Promise<void>;
  /** Makes the editor answer again. */
  comeBack(): void;
}

/** Replaces parts of the window; call it before the window's first turn. */
function losableEditor({ ports }: Headless): LosableEditor {
  const back = Promise.withResolvers<undefined>();
  let asked = Promise.withResolvers<void>();
  let lost = false;
  const manual = createManualClock(Date.now() + 60_000);
  const clock: Clock = {
    now: () => (lost ? manual : realClock).now(),
    monotonic: () => (lost ? manual : realClock).monotonic(),
    after: (milliseconds, run) => (lost ? manual : realClock).after(milliseconds, run),
  };
  const read = async () => {
    if (!lost) return undefined;
    asked.resolve();
    asked = Promise.withResolvers<void>();
    return back.promise;
  };
  Object.assign(ports, { clock, userFiles: { read } });
  return {
    clock: manual,
    lose: () => (lost = true),
    nextAsked: () => asked.promise,
    comeBack: () => back.resolve(undefined),
  };
}

test('a question open in a window whose editor is gone is asked again in the new owner', async () => {
  const question = { question: 'Green or black?' };
  const { one, two, second, id } = await twoWindows(
    { calls: [{ id: 'ask', name: 'ask_user', arguments: question }] },
    { text: ['Done.'] },
  );
  const editor = losableEditor(one);
  const asked = Promise.withResolvers<void>();
  one.frontend.answerQuestion = (_, signal) => {
    asked.resolve();
    return new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true }),
    );
  };
  two.frontend.answerQuestion = () => Promise.resolve({ answer: 'Black', by: 'user' });
  await one.earshot.send(id, 'Make tea.');
  await asked.promise;
  editor.lose();
  expect(await two.earshot.continueHere(id)).toEqual({ ok: true, value: undefined });
  await until(two.earshot, () => !second.log.state.turn.isOpen);
  expect(second.log.state.messages.all.at(-2)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining('Black') as unknown,
  });
  editor.comeBack();
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('a turn that hangs because its editor is gone continues in the other window, and writes nothing later', async () => {
  const { one, two, first, second, id } = await twoWindows(
    { calls: [{ id: 'run', name: 'run_command', arguments: { command: 'cat pipe' } }] },
    { text: ['Done in the second window.'] },
  );
  const editor = losableEditor(one);
  execFileSync('mkfifo', [join(one.folder, 'pipe')]);
  await one.earshot.send(id, 'Run it.');
  await until(one.earshot, () => first.log.state.turn.unanswered[0]?.approval !== undefined);
  editor.lose();
  const comparing = editor.nextAsked();
  await writeFile(join(one.folder, 'pipe'), 'output\n');
  await comparing;
  const taken = two.earshot.continueHere(id);
  expect(two.earshot.get(id)?.awaited).toBe(true);
  await expect.poll(() => editor.clock.waiting).toBeGreaterThan(0);
  // The files cannot be compared, so the result lists no changes; it ends the cycle.
  editor.clock.advance(10_000);
  expect(await taken).toEqual({ ok: true, value: undefined });
  expect(two.earshot.get(id)?.awaited).toBeUndefined();
  await until(two.earshot, () => !second.log.state.turn.isOpen);
  expect(second.log.state.messages.all.slice(-2)).toMatchObject([
    { role: 'tool', call: 'run', content: expect.stringContaining('output') as unknown },
    { content: 'Done in the second window.' },
  ]);
  const hanging = one.earshot.settled(id);
  editor.comeBack();
  await hanging;
  const types = (await two.events(id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; purpose?: string })
    .flatMap(({ type, purpose }) => (type === 'title_set' || purpose === 'title' ? [] : [type]));
  expect(types).toEqual([
    'conversation_started',
    'turn_started',
    'chat_request',
    'config_used',
    'tool_call_request',
    'model_call',
    'approval',
    'tool_call_response',
    'chat_response',
    'model_call',
    'turn_ended',
  ]);
  expect(await one.earshot.continueHere(id)).toEqual({ ok: true, value: undefined });
  expect([one.errors, two.errors]).toEqual([[], []]);
});

test('closing the first window frees the conversation for the second', async () => {
  const { one, two, id } = await twoWindows({ text: ['Hello.'] });
  await one.earshot.close(id);
  expect(await two.earshot.continueHere(id)).toEqual({ ok: true, value: undefined });
  expect(two.earshot.get(id)?.owned).toBe(true);
});
