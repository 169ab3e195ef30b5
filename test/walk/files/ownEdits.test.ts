// A conversation's own edits: not reported to itself, reported to others that have seen the file, and taken into
// account by later edits of the same answer.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Earshot } from '../../../src/core/earshot.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let headless: Headless | undefined;
let server: ScriptedServer | undefined;

afterEach(async () => {
  await headless?.end();
  await server?.stop();
});

const call = (id: string, name: string, args: Readonly<Record<string, unknown>>): ScriptedAnswer => ({
  calls: [{ id, name, arguments: args }],
});
const edit = (id: string, old_text: string, new_text: string) => ({
  id,
  name: 'edit_file',
  arguments: { path: './a.txt', edits: [{ old_text, new_text }] },
});

const nothing = async () => undefined;
/** Runs after the file was changed and before the result is in the log. */
let meanwhile: () => Promise<unknown> = nothing;

async function begin(...answers: ScriptedAnswer[]) {
  meanwhile = nothing;
  const settle = async () => {
    await meanwhile();
    return undefined;
  };
  server = await startScriptedServer(...answers);
  headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined }),
    ports: { problems: { beginEdit: () => ({ settle, dispose: () => undefined }), look: nothing, shown: nothing } },
  });
  const { earshot, folder } = headless;
  await writeFile(join(folder, 'a.txt'), 'one\ntwo\n');
  await writeFile(join(folder, 'other.txt'), 'x\n');
  return { earshot, folder };
}

async function conversation(earshot: Earshot) {
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value.log;
}

async function send(earshot: Earshot, id: string): Promise<void> {
  expect(await earshot.send(id, 'Go on.')).toMatchObject({ ok: true });
  await earshot.settled(id);
}

function nextQueued(earshot: Earshot, conversationId: string, subject: string): Promise<LogEvent> {
  return new Promise((resolve) => {
    const listening = earshot.onDidChange(({ conversation: id, folded }) => {
      const event = folded?.event;
      if (id !== conversationId || event?.type !== 'notification_queued') return;
      if (event.notification.subject !== subject) return;
      listening.dispose();
      resolve(event);
    });
  });
}

test('an edit is reported to other conversations that have seen the file, and not to its own', async () => {
  const { earshot, folder } = await begin(
    call('r1', 'read_file', { path: 'a.txt' }),
    { text: ['Seen.'] },
    call('r2', 'read_file', { path: 'a.txt' }),
    call('r3', 'read_file', { path: 'other.txt' }),
    call('e1', 'edit_file', { path: join('.', 'a.txt'), edits: [{ old_text: 'two', new_text: '2' }] }),
    { text: ['Edited.'] },
  );
  const onlooker = await conversation(earshot);
  await send(earshot, onlooker.id);
  const editor = await conversation(earshot);
  const notified = nextQueued(earshot, onlooker.id, 'file:a.txt');
  meanwhile = async () => {
    // If the edit had been reported, its notification would have come before this one.
    const queued = nextQueued(earshot, editor.id, 'file:other.txt');
    await writeFile(join(folder, 'other.txt'), 'y\n');
    await queued;
  };
  await send(earshot, editor.id);
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('one\n2\n');
  expect(await notified).toMatchObject({
    notification: { kind: { source: 'file', name: 'changed' }, message: expect.stringContaining('+2') as string },
  });
  const events = (await headless?.events(editor.id)) ?? '';
  expect(events).not.toContain('"subject":"file:a.txt"');
  expect(headless?.errors).toEqual([]);
});

test('several edits of one file in one answer are all applied', async () => {
  const { earshot, folder } = await begin(
    call('r1', 'read_file', { path: 'a.txt' }),
    { calls: [edit('e1', 'one', '1'), edit('e2', 'two', '2')] },
    { text: ['Done.'] },
  );
  const log = await conversation(earshot);
  // The first edit waits until the second runs, which must still take it into account.
  const both = Promise.withResolvers<void>();
  let count = 0;
  meanwhile = () => {
    count += 1;
    if (count === 2) both.resolve();
    return both.promise;
  };
  await send(earshot, log.id);
  const events = ((await headless?.events(log.id)) ?? '')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
  const results = events.flatMap((event) => (event.type === 'tool_call_response' ? [event.content] : []));
  expect(results.slice(1).sort()).toEqual([
    'Replaced one text in a.txt, line 1.',
    'Replaced one text in a.txt, line 2.',
  ]);
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('1\n2\n');
  expect(headless?.errors).toEqual([]);
});
