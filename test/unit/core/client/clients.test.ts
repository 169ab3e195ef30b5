// The local and the remote client: the same scenarios, with the same results, against a real window without an editor.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Result } from '../../../../src/base/errors.ts';
import { type Client, type FollowChange, type FollowMessage } from '../../../../src/core/client/client.ts';
import { VERBS } from '../../../../src/protocol/client/verbs.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { attachRemote, createClientWorld, KINDS } from '../../../support/plugins/clients.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const write = (id: string, content = 'Tea.\n') => call(id, 'write_file', { path: 'menu.txt', content });
const end = { text: ['All', ' done.'] };

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

/** Follows until the test ends, and checks the numbers of all messages. */
async function follow(client: Client, conversation: string) {
  const messages: FollowMessage[] = [];
  const waiting: (() => void)[] = [];
  let last = 0;
  const following = unwrap(
    await client.follow(conversation, (message) => {
      if (message.type !== 'lost') {
        expect(message.number).toBe(last + 1);
        last = message.number;
      }
      messages.push(message);
      for (const wake of waiting.splice(0)) wake();
    }),
  );
  atTestEnd(async () => following.dispose());
  const changes = () => messages.flatMap((message) => (message.type === 'delta' ? [message.change] : []));
  const until = async <T extends FollowChange['type']>(
    type: T,
    fits: (change: Extract<FollowChange, { type: T }>) => boolean = () => true,
  ): Promise<Extract<FollowChange, { type: T }>> => {
    for (;;) {
      const found = changes().find(
        (change): change is Extract<FollowChange, { type: T }> => change.type === type && fits(change as never),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  return { messages, changes, until, following };
}

const isOpened = ({ request }: Extract<FollowChange, { type: 'request' }>) => request.type === 'opened';

test('every verb has its own line: no two verbs with the same request and fixed fields, except where fields differ', () => {
  const lines = Object.entries(VERBS).map(
    ([verb, { wire }]) => [verb, JSON.stringify({ ...wire, reply: '' })] as const,
  );
  const shared = [...Map.groupBy(lines, ([, line]) => line).values()].filter((verbs) => verbs.length > 1);
  expect(shared.map((verbs) => verbs.map(([verb]) => verb))).toEqual([['send', 'resend']]);
});

describe.each(KINDS)('%s', (kind) => {
  test('follow: a snapshot, then numbered deltas: the growing answer, events, the open request, what runs', async () => {
    const { world, client } = await createClientWorld(kind, { answers: [write('w'), end] });
    const { conversation } = unwrap(await client.call('create', { title: 'Menu' }));
    const { messages, until, changes } = await follow(client, conversation);
    expect(messages).toMatchObject([
      { type: 'snapshot', number: 1, conversation: { id: conversation, running: false, owned: true, requests: [] } },
    ]);
    const { turn } = unwrap(await client.call('send', { conversation, content: 'Write the menu.' }));
    const { request } = await until('request', isOpened);
    expect(request.open).toMatchObject({
      type: 'approval',
      conversation,
      id: 'w',
      request: { call: { name: 'write_file' }, always: 'write_file', preview: { files: [{ path: 'menu.txt' }] } },
    });
    expect(client.requests.all).toMatchObject([{ id: 'w' }]);
    const { revision } = request.open;
    const answer = { conversation, tool_call_id: 'w', action: 'approve', revision } as const;
    expect(await client.call('approve', { ...answer, revision: revision + 1 })).toMatchObject({ ok: false });
    expect(unwrap(await client.call('approve', answer))).toEqual({});
    expect(await client.untilEnded(turn)).toMatchObject({ outcome: 'done' });
    expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
    await until('status', ({ status }) => !status.running);
    const text = changes().flatMap((one) =>
      one.type === 'partial' && one.partial.type === 'answer_text' ? [one.partial.text] : [],
    );
    expect(text.join('')).toBe('All done.');
    const events = changes().flatMap((one) => (one.type === 'event' ? [one.folded.event.type] : []));
    expect(events).toEqual(
      expect.arrayContaining(['turn_started', 'tool_call_request', 'chat_response', 'turn_ended']),
    );
    expect(changes().filter(({ type }) => type === 'status')).toHaveLength(2);
    expect(changes().flatMap((one) => (one.type === 'request' ? [one.request.type] : []))).toEqual([
      'opened',
      'closed',
    ]);
    const [snapshot] = messages;
    if (snapshot?.type !== 'snapshot') throw new Error('no snapshot');
    expect(snapshot.conversation.state.transcript.items.at(-1)).toMatchObject({ type: 'answer', text: 'All done.' });
  });

  test('a follower that begins in the middle of an answer gets what was written, and the open requests', async () => {
    const { client } = await createClientWorld(kind, {
      answers: [{ text: ['I am', ' thinking'], hang: true }, write('w'), end],
    });
    const { conversation } = unwrap(await client.call('create', {}));
    const first = await follow(client, conversation);
    unwrap(await client.call('send', { conversation, content: 'Think.' }));
    await first.until('partial', ({ partial }) => partial.type === 'answer_text' && partial.text.includes('thinking'));
    const { messages } = await follow(client, conversation);
    expect(messages[0]).toMatchObject({
      type: 'snapshot',
      conversation: {
        running: true,
        unfinished: [{ type: 'answer_started' }, { type: 'answer_text', field: 'text', text: 'I am thinking' }],
      },
    });
    unwrap(await client.call('interrupt', { conversation, content: 'Write.' }));
    await first.until('request', isOpened);
    const third = await follow(client, conversation);
    expect(third.messages[0]).toMatchObject({ type: 'snapshot', conversation: { requests: [{ id: 'w' }] } });
    unwrap(await client.call('stop', { conversation }));
  });

  test('queue and interrupt start a turn if none runs; a queued message is raised, withdrawn, sent', async () => {
    const { client } = await createClientWorld(kind, {
      answers: [end, { text: ['Slow'], hang: true }, end, end],
    });
    const { conversation } = unwrap(await client.call('create', {}));
    const { until, messages } = await follow(client, conversation);
    expect(await client.call('stop', { conversation })).toMatchObject({ ok: false });
    expect(await client.call('queue', { conversation, content: ' ' })).toMatchObject({ ok: false });
    unwrap(await client.call('queue', { conversation, content: 'First.' }));
    await until('event', ({ folded }) => folded.event.type === 'turn_ended');
    unwrap(await client.call('interrupt', { conversation, content: 'Second.' }));
    await until('partial', ({ partial }) => partial.type === 'answer_text' && partial.text === 'Slow');
    expect(await client.call('send', { conversation, content: 'No.' })).toMatchObject({ ok: false });
    for (const content of ['One.', 'Two.', 'Three.']) unwrap(await client.call('queue', { conversation, content }));
    await until('event', ({ folded }) => folded.event.type === 'user_text_queued' && folded.event.content === 'Three.');
    const [snapshot] = messages;
    if (snapshot?.type !== 'snapshot') throw new Error('no snapshot');
    const queued = () => snapshot.conversation.state.pending.queuedMessages;
    const [one, two] = queued();
    unwrap(await client.call('raise_queued', { conversation, queued_id: two?.id ?? '' }));
    await expect.poll(() => queued().map(({ content }) => content)).toEqual(['Two.', 'One.', 'Three.']);
    expect(await client.call('withdraw_queued', { conversation, queued_id: one?.id ?? '' })).toMatchObject({
      ok: false,
    });
    const last = queued().at(-1)?.id ?? '';
    expect(unwrap(await client.call('withdraw_queued', { conversation, queued_id: last }))).toEqual({
      content: 'Three.',
    });
    unwrap(await client.call('send_queued', { conversation, queued_id: queued()[0]?.id ?? '' }));
    await until('event', ({ folded: { event } }) => event.type === 'chat_request' && event.content.includes('Two.'));
    await client.call('stop', { conversation });
  });

  test('conversations are listed, renamed, forked, exported and deleted; a message is edited and sent again', async () => {
    const { client } = await createClientWorld(kind, { answers: [end, end, end] });
    const { conversation } = unwrap(await client.call('create', {}));
    const { messages } = await follow(client, conversation);
    const { turn } = unwrap(await client.call('send', { conversation, content: 'First.' }));
    await client.untilEnded(turn);
    unwrap(await client.call('rename', { conversation, title: 'Tea' }));
    const { conversation: fork } = unwrap(await client.call('fork', { conversation }));
    const listed = unwrap(await client.call('list_conversations', {})).data;
    expect(listed).toMatchObject([
      { id: fork, forked: true },
      { id: conversation, title: 'Tea' },
    ]);
    const [snapshot] = messages;
    if (snapshot?.type !== 'snapshot') throw new Error('no snapshot');
    const request = snapshot.conversation.state.transcript.items.find(({ type }) => type === 'request')?.id ?? '';
    const before = unwrap(await client.call('fork', { conversation, before: request }));
    expect(before).toMatchObject({ content: 'First.' });
    const resent = unwrap(await client.call('resend', { conversation, instead_of: request, content: 'Second.' }));
    expect(resent.conversation).not.toBe(conversation);
    expect(await client.untilEnded(resent.turn)).toMatchObject({ outcome: 'done' });
    const text = unwrap(await client.call('export', { conversation: resent.conversation, format: 'markdown' })).text;
    expect(text).toContain('Second.');
    const again = unwrap(await client.call('resend', { conversation, instead_of: request }));
    await client.untilEnded(again.turn);
    expect(unwrap(await client.call('export', { conversation: again.conversation, format: 'json' })).text).toContain(
      'First.',
    );
    unwrap(await client.call('delete', { conversation: fork }));
    expect(unwrap(await client.call('list_conversations', {})).data.some(({ id }) => id === fork)).toBe(false);
    expect(await client.follow(fork, () => undefined)).toMatchObject({ ok: false });
    expect(await client.call('retry', { conversation })).toMatchObject({ ok: false });
  });

  test('changes are kept, undone, reverted and restored; their diff is read', async () => {
    const { world, client } = await createClientWorld(kind, {
      answers: [write('w'), end, write('v', 'Coffee.\n'), end],
      settings: { 'approvals.mode': 'all' },
    });
    const menu = join(world.headless.folder, 'menu.txt');
    const { conversation } = unwrap(await client.call('create', {}));
    const { messages } = await follow(client, conversation);
    const run = async (content: string) =>
      client.untilEnded(unwrap(await client.call('send', { conversation, content })).turn);
    await run('Write.');
    expect(unwrap(await client.call('read_diff', { conversation, tool_call_id: 'w' })).data).toMatchObject([
      { path: 'menu.txt', kind: 'created', added: 1 },
    ]);
    expect(unwrap(await client.call('undo', { conversation, path: 'menu.txt' })).done).toEqual(['menu.txt']);
    expect(existsSync(menu)).toBe(false);
    const [snapshot] = messages;
    if (snapshot?.type !== 'snapshot') throw new Error('no snapshot');
    const { state } = snapshot.conversation;
    const decision = () => {
      const notice = state.transcript.items.findLast((item) => item.type === 'notice' && item.action !== undefined);
      const message = notice?.type === 'notice' ? notice.action?.message : undefined;
      return message !== undefined && 'decision' in message ? message.decision : '';
    };
    await expect.poll(decision).not.toBe('');
    unwrap(await client.call('revert', { conversation, decision: decision() }));
    expect(await readFile(menu, 'utf8')).toBe('Tea.\n');
    unwrap(await client.call('keep', { conversation }));
    expect(await client.call('keep', { conversation })).toMatchObject({ ok: false });
    expect(await client.call('undo', { conversation, meanwhile: true })).toMatchObject({ ok: false });
    await run('Write again.');
    expect(await readFile(menu, 'utf8')).toBe('Coffee.\n');
    const request = state.transcript.items.findLast(({ type }) => type === 'request')?.id ?? '';
    const files = [{ path: 'menu.txt', version: 'as it was shown earlier' }];
    expect(unwrap(await client.call('restore', { conversation, request, files }))).toEqual({
      done: [],
      stayed: [{ path: 'menu.txt', reason: 'It has changed since it was chosen.' }],
    });
    expect(await readFile(menu, 'utf8')).toBe('Coffee.\n');
    expect(unwrap(await client.call('restore', { conversation, request })).done).toEqual(['menu.txt']);
    expect(await readFile(menu, 'utf8')).toBe('Tea.\n');
  });

  test('background commands are followed, get input and are stopped', async () => {
    const { client } = await createClientWorld(kind, {
      answers: [
        call('c', 'run_command', {
          command: 'read name; echo "Hello $name."; sleep 60',
          background: true,
          handle: 'greet',
        }),
        end,
      ],
      settings: { 'approvals.mode': 'all' },
    });
    const { conversation } = unwrap(await client.call('create', {}));
    const { until, changes } = await follow(client, conversation);
    unwrap(await client.call('send', { conversation, content: 'Greet.' }));
    await until('commands', ({ commands }) =>
      commands.some(({ call: id, state }) => id === 'c' && state !== 'stopped'),
    );
    unwrap(await client.call('write_command', { conversation, tool_call_id: 'c', input: 'Ada' }));
    await until('commands', ({ commands }) => commands.some(({ output }) => output.includes('Hello Ada.')));
    unwrap(await client.call('stop_command', { conversation, tool_call_id: 'c' }));
    await until('commands', ({ commands }) => commands.some(({ state }) => state === 'stopped' || state === 'failed'));
    expect(changes().some(({ type }) => type === 'commands')).toBe(true);
    expect(await client.call('stop_command', { conversation, tool_call_id: 'c' })).toMatchObject({ ok: false });
  });

  test('questions are answered, notifications sent, delivered and dismissed, images stored, completions and models listed', async () => {
    const ask = call('q', 'ask_user', { question: 'Milk?', options: ['Yes', 'No'] });
    const { world, client } = await createClientWorld(kind, { answers: [ask, end, end] });
    const { conversation } = unwrap(await client.call('create', {}));
    const { until, messages } = await follow(client, conversation);
    const { hash } = unwrap(await client.call('attach', { media_type: 'image/png', data: 'AAAA' }));
    const attachments = [{ type: 'image', media_type: 'image/png', hash }] as const;
    const { turn } = unwrap(await client.call('send', { conversation, content: 'Ask.', attachments }));
    const { request } = await until('request', isOpened);
    expect(await client.call('answer', { inquiry_id: request.open.id, answer: ['Yes'] })).toMatchObject({ ok: false });
    unwrap(await client.call('answer', { inquiry_id: request.open.id, answer: 'Yes' }));
    await client.untilEnded(turn);
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('Yes');
    expect(unwrap(await client.call('read_media', { conversation, hash }))).toEqual({ hash, data: 'AAAA' });
    const notification = { kind: { name: 'built' }, level: 'info', message: 'The build is done.' } as const;
    expect(unwrap(await client.call('notify', { ...notification, conversation }))).toEqual({ matched: 1 });
    const [snapshot] = messages;
    if (snapshot?.type !== 'snapshot') throw new Error('no snapshot');
    const pending = () => snapshot.conversation.state.pending.notifications.map(({ id }) => id);
    await expect.poll(pending).toHaveLength(1);
    unwrap(await client.call('dismiss', { conversation, notification_ids: pending() }));
    await expect.poll(pending).toHaveLength(0);
    expect(await client.call('deliver', { conversation })).toMatchObject({ ok: false });
    expect(unwrap(await client.call('complete', { trigger: '@', query: 'tea' })).data).toMatchObject([
      { name: 'src/tea.ts' },
    ]);
    unwrap(await client.call('choose', { model: 'two', mode: 'plan' }));
    expect(unwrap(await client.call('list_models', { all: true })).current).toMatchObject({
      reference: 'two',
      mode: 'plan',
    });
    expect(await client.call('choose', { model: 'none' })).toMatchObject({ ok: false });
    expect(unwrap(await client.call('read_config', { path: 'mode' })).data).toBe('plan');
    expect(await client.call('mute', { mute: { by: 'path', path: 'menu.txt' } })).toMatchObject({ ok: false });
    expect(unwrap(await client.call('read_events', { conversation })).data.at(0)).toMatchObject({ seq: 1 });
  });

  test('turns and titles of conversations that are not followed are reported', async () => {
    const { world, client } = await createClientWorld(kind, { answers: [end] });
    const seen: string[] = [];
    const listening = client.onDidProgress(({ conversation, event }) => seen.push(`${conversation} ${event.type}`));
    atTestEnd(async () => listening.dispose());
    const id = await world.conversation();
    await world.turn(id);
    await expect.poll(() => seen).toEqual(expect.arrayContaining([`${id} turn_started`, `${id} turn_ended`]));
  });
});

test('remote: without the right to answer, verbs in place of the user are refused', async () => {
  const { client } = await createClientWorld('remote', { programs: {} });
  const { conversation } = unwrap(await client.call('create', {}));
  for (const [verb, params] of [
    ['delete', { conversation }],
    ['keep', { conversation }],
    ['undo', { conversation }],
    ['choose', { mode: 'plan' }],
    ['mute', { mute: { by: 'path', path: 'x' } }],
    ['write_command', { conversation, tool_call_id: 'c', input: 'rm' }],
    ['approve', { conversation, tool_call_id: 'w', action: 'approve' }],
  ] as const) {
    const refused = await client.call(verb, params);
    expect(refused, verb).toMatchObject({ ok: false });
    expect(refused.ok ? '' : refused.failure.message, verb).toContain('Only the user can allow that');
  }
});

test('remote: requests of conversations that are not followed come only if the client asks for all', async () => {
  const { world, client } = await createClientWorld('remote', { answers: [write('w'), end] });
  const { client: all } = await attachRemote(world, [], true);
  const id = await world.conversation();
  const turn = world.turn(id);
  await expect.poll(() => all.requests.all.map((open) => open.id)).toEqual(['w']);
  expect(client.requests.all).toEqual([]);
  const { messages } = await follow(client, id);
  expect(messages).toMatchObject([{ conversation: { running: true, state: {} } }]);
  await expect.poll(() => client.requests.all.map((open) => open.id)).toEqual(['w']);
  unwrap(await all.call('approve', { conversation: id, tool_call_id: 'w', action: 'reject', reason: 'No.' }));
  await turn;
  await expect.poll(() => client.requests.all).toEqual([]);
});

test('remote: the end of the connection ends what is followed and what is awaited', async () => {
  const { client, disconnect } = await createClientWorld('remote', { answers: [{ text: ['Slow'], hang: true }] });
  const { conversation } = unwrap(await client.call('create', {}));
  const { messages, until } = await follow(client, conversation);
  const { turn } = unwrap(await client.call('send', { conversation, content: 'Think.' }));
  await until('partial');
  const ended = client.untilEnded(turn);
  disconnect();
  expect(await client.ended).toBe('The window is gone.');
  expect(await ended).toEqual({ outcome: 'error', message: 'The window is gone.' });
  expect(messages.at(-1)).toEqual({ type: 'lost', reason: 'The window is gone.' });
  expect(await client.call('list_conversations', {})).toMatchObject({ ok: false });
});

test('remote: what does not fit into a line is refused, and the connection stays', async () => {
  const { client } = await createClientWorld('remote');
  const { conversation } = unwrap(await client.call('create', {}));
  await follow(client, conversation);
  const long = await client.call('queue', { conversation, content: 'ä'.repeat(5_000_000) });
  expect(long).toMatchObject({ ok: false, failure: { code: 'too_large' } });
  expect(await client.call('list_conversations', {})).toMatchObject({ ok: true });
});
