// Background commands over a restart: usable, reported once and correctly, stopped if no window returns, lost only with
// their supervisor.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Handle } from '../../../src/core/ports/handles.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { platform } from '../../../src/node/platform/platform.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, type HeadlessOptions, startHeadless } from '../../support/walk/headless.ts';

const done: ScriptedAnswer = { text: ['Done.'] };
let server: ScriptedServer | undefined;
let window: Headless | undefined;

afterEach(async () => {
  await window?.end();
  await server?.stop();
});

async function begin(command: string, supervisors: HeadlessOptions['supervisors'] = {}): Promise<string> {
  server = await startScriptedServer(
    { calls: [{ id: 'a', name: 'run_command', arguments: { command, background: true, handle: 'job' } }] },
    done,
  );
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', options: {}, apiKey: async () => 'k' });
  window = await startHeadless({
    model,
    settings: { 'approvals.mode': 'all', 'notifications.activation': 'passive' },
    supervisors: { processes: true, graceMilliseconds: 300, ...supervisors },
  });
  const opened = await window.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  await say(id, 'Begin.');
  return id;
}

async function say(id: string, text: string): Promise<void> {
  await window?.earshot.send(id, text);
  await window?.earshot.settled(id);
}

/** Closes the window and resumes its conversations in another. */
async function restart(id: string): Promise<void> {
  window = await window?.restart();
  const opened = await window?.earshot.open(id);
  if (opened?.ok !== true) throw new Error('it cannot be opened');
}

function job(id: string): Handle {
  const handle = window?.handles.list(id).find(({ name }) => name === 'job');
  if (handle === undefined) throw new Error('there is no handle');
  return handle;
}

async function eventsOf<T extends LogEvent['type']>(id: string, type: T) {
  const lines = ((await window?.events(id)) ?? '').trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as LogEvent);
  return events.filter((event): event is Extract<LogEvent, { type: T }> => event.type === type);
}

/** The kinds of all queued notifications. */
async function queued(id: string): Promise<string[]> {
  return (await eventsOf(id, 'notification_queued')).map(({ notification }) => notification.kind.name);
}

const printed = (text: string) => async (id: string) => (await job(id).lastLines(1000)).includes(text);

async function untilPrinted(id: string, text: string): Promise<void> {
  const seen = printed(text);
  await expect.poll(() => seen(id)).toBe(true);
}

const lives = (pid: number) => platform.processes.startTimeOf(pid) !== undefined;

test('a running handle is reattached with its output, takes input, and its end is reported once', async () => {
  const id = await begin('echo first; read line; echo "got $line"; exit 5');
  await untilPrinted(id, 'first');
  await restart(id);
  expect(job(id).state).toBe('running');
  server?.script(
    { calls: [{ id: 'b', name: 'handle', arguments: { action: 'apply', name: 'job', text: 'this' } }] },
    done,
  );
  await say(id, 'Answer it.');
  const fed = (await eventsOf(id, 'tool_call_response')).at(-1);
  expect(fed?.content).toMatch(/^first\ngot this\n/);
  await job(id).until((one) => one.hasEnded);
  server?.script(done, done);
  await say(id, 'And?');
  await say(id, 'And?');
  const blocks = (await eventsOf(id, 'chat_request')).flatMap(({ notifications }) => notifications?.text || []);
  const both = [...blocks, fed?.content ?? ''].filter((text) => text.includes('exit code 5'));
  expect(both).toHaveLength(1);
});

test('the first carrier after a restart reports once which handles still run', async () => {
  const id = await begin('echo first; read line');
  await untilPrinted(id, 'first');
  await restart(id);
  server?.script(done, done);
  await say(id, 'Where were we?');
  await say(id, 'And?');
  const blocks = (await eventsOf(id, 'chat_request')).map(({ notifications }) => notifications?.text ?? '');
  expect(blocks[1]).toMatch(
    /The editor was restarted\. These background commands still run:\n- “job” \(echo first; read line\): running for \d+ s/,
  );
  expect(blocks.filter((text) => text.includes('still run'))).toHaveLength(1);
});

test('a handle that ended after the restart is not reported as running', async () => {
  const id = await begin('echo first; read line; exit 4');
  await untilPrinted(id, 'first');
  await restart(id);
  await job(id).write('go\n');
  await job(id).until((one) => one.hasEnded);
  await expect.poll(() => queued(id)).toEqual(['failed']);
  server?.script(done);
  await say(id, 'And?');
  const [block] = (await eventsOf(id, 'chat_request')).flatMap(({ notifications }) => notifications?.text ?? []);
  expect(block).toContain('exit code 4');
  expect(await queued(id)).toEqual(['failed']);
});

test('an end not delivered before the restart is reported when the conversation is opened again, and only then', async () => {
  const id = await begin('read line; echo finished; exit 0');
  const { pid } = job(id).process;
  await window?.earshot.close(id);
  // The command ends while no window is open.
  const spec = JSON.parse(await readFile(join(handleFolder(id), 'spec.json'), 'utf8')) as {
    socket: string;
    token: string;
  };
  await typeInto(spec, 'go\n');
  await expect.poll(() => lives(pid)).toBe(false);
  await restart(id);
  await expect.poll(() => queued(id)).toEqual(['stopped']);
  const [event] = await eventsOf(id, 'notification_queued');
  expect(event?.notification.message).toMatch(/“job” .* ended with exit code 0 after .*\nLast lines:\nfinished$/s);
  await restart(id);
  await restart(id);
  server?.script(done);
  await say(id, 'And?');
  expect(await queued(id)).toEqual(['stopped']);
  expect((await eventsOf(id, 'chat_request')).filter(({ notifications }) => notifications !== undefined)).toHaveLength(
    1,
  );
});

test('a handle waiting for input still waits after a restart, is reported once, and takes input', async () => {
  const id = await begin('printf "Name? "; read name; echo "Hello $name"; sleep 1000');
  await expect.poll(() => queued(id)).toEqual(['waiting']);
  await restart(id);
  await expect.poll(() => job(id).state).toBe('waiting');
  expect(await queued(id)).toEqual(['waiting']);
  await job(id).write('Ada\n');
  await untilPrinted(id, 'Hello Ada');
});

test('a waiting handle that ended during the restart is reported as ended, not as waiting', async () => {
  const id = await begin('printf "Name? "; read name', { unownedMilliseconds: 500 });
  await expect.poll(() => queued(id)).toEqual(['waiting']);
  const { pid } = job(id).process;
  await window?.earshot.close(id);
  await expect.poll(() => lives(pid)).toBe(false);
  await window?.earshot.open(id);
  await expect.poll(() => queued(id)).toEqual(['waiting', 'failed']);
  const pending = () => window?.earshot.get(id)?.log.state.pending.notifications.map(({ kind }) => kind.name);
  await expect.poll(pending).toEqual(['failed']);
});

test('a handle moves with its conversation to the window that continues it', async () => {
  const id = await begin('read line; echo "got $line"');
  const first = window;
  const second = await first?.second();
  await second?.earshot.open(id);
  expect(second?.handles.list(id)).toEqual([]);
  await second?.earshot.continueHere(id);
  expect(first?.handles.list(id)).toEqual([]);
  window = second;
  await job(id).write('this\n');
  await expect.poll(() => queued(id)).toEqual(['stopped']);
  expect(await job(id).lastLines(100)).toBe('got this');
  await first?.earshot.shutDown();
  first?.handles.dispose();
});

test('if no window returns, the handle is stopped after a while, and the reason is reported', async () => {
  const id = await begin('echo $$ > pid; sleep 1000 & echo $! > child; wait', { unownedMilliseconds: 500 });
  await untilFile('child');
  const pids = [job(id).process.pid, ...(await Promise.all(['pid', 'child'].map(pidFrom)))];
  const before = window;
  await before?.earshot.shutDown();
  before?.handles.dispose();
  await expect.poll(() => pids.filter(lives)).toEqual([]);
  window = await before?.second();
  await window?.earshot.open(id);
  await expect.poll(() => queued(id)).toEqual(['failed']);
  const [event] = await eventsOf(id, 'notification_queued');
  expect(event?.notification.message).toContain('was stopped because no window had it any more');
});

test('a handle whose supervisor is killed is reported as lost, its process tree is ended, and its output can be fetched', async () => {
  const id = await begin('echo before; sleep 1000 & echo $! > child; wait');
  await untilPrinted(id, 'before');
  await untilFile('child');
  process.kill(job(id).process.pid, 'SIGKILL');
  await expect.poll(() => queued(id)).toEqual(['lost']);
  await expect.poll(async () => lives(await pidFrom('child'))).toBe(false);
  server?.script({ calls: [{ id: 'b', name: 'handle', arguments: { action: 'fetch', name: 'job' } }] }, done);
  await say(id, 'And?');
  expect((await eventsOf(id, 'tool_call_response')).at(-1)?.content).toMatch(
    /^before\n\(job: cannot be followed any more/,
  );
  await restart(id);
  expect(await queued(id)).toEqual(['lost']);
});

test('a supervisor killed while no window was open is detected when the conversation is opened', async () => {
  const id = await begin('sleep 1000 & echo $! > child; wait');
  await untilFile('child');
  const { pid } = job(id).process;
  await window?.earshot.close(id);
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => lives(pid)).toBe(false);
  await restart(id);
  await expect.poll(() => queued(id)).toEqual(['lost']);
  await expect.poll(async () => lives(await pidFrom('child'))).toBe(false);
});

const pidFrom = async (name: string) =>
  Number(await readFile(join(window?.folder ?? '', name), 'utf8').catch(() => '0'));

async function untilFile(name: string): Promise<void> {
  await expect.poll(() => pidFrom(name)).toBeGreaterThan(0);
}

function handleFolder(id: string): string {
  const run = `run-${Buffer.from('a').toString('hex')}`;
  return join(window?.storage ?? '', 'conversations', id, 'handles', run);
}

/** Writes to the command as its owner would, without owning it. */
async function typeInto({ socket, token }: { socket: string; token: string }, text: string): Promise<void> {
  const { connect } = await import('node:net');
  await new Promise<void>((resolve) => {
    const connection = connect(socket);
    connection.write(`${JSON.stringify({ type: 'hello', token })}\n`);
    connection.write(`${JSON.stringify({ type: 'input', id: 1, text, last: false })}\n`);
    connection.on('data', () => undefined);
    connection.on('close', () => resolve());
  });
}
