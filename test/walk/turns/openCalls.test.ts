// Only calls of the latest answer run, every turn answers its calls, and a call of an ended turn never runs again.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { succeeded } from '../../../src/base/errors.ts';
import { type Ids } from '../../../src/core/ports/ports.ts';
import { type Checkpoints } from '../../../src/core/ports/storage.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { defineTool } from '../../../src/tools/defineTool.ts';
import { readFileTool } from '../../../src/tools/files/readFile.ts';
import { atTestEnd } from '../../support/endings.ts';
import { parseLines } from '../../support/log/logOracle.ts';
import { createScriptedModel, type ModelAnswer, type ScriptedModel } from '../../support/models/scriptedModel.ts';
import { type Headless, type HeadlessOptions, startHeadless } from '../../support/walk/headless.ts';

const append = (id: string, text: string) => ({
  id,
  name: 'run_command',
  arguments: { command: `echo ${text} >> made.txt` },
});

interface Walk {
  headless: Headless;
  readonly model: ScriptedModel;
  readonly id: string;
}

async function begin(answers: readonly ModelAnswer[], options: Partial<HeadlessOptions> = {}): Promise<Walk> {
  const model = createScriptedModel(...answers);
  const headless = await startHeadless({
    model,
    ...options,
    ports: { producers: [], ...options.ports },
  });
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const walk: Walk = { headless, model, id: opened.value.log.id };
  atTestEnd(() => walk.headless.end());
  return walk;
}

async function say({ headless, id }: Walk, text: string): Promise<void> {
  const sent = await headless.earshot.send(id, text);
  if (!sent.ok) throw new Error(sent.failure.message);
  await headless.earshot.settled(id);
}

async function made({ headless }: Walk): Promise<string> {
  return readFile(join(headless.folder, 'made.txt'), 'utf8').catch(() => '');
}

async function eventsOf({ headless, id }: Walk): Promise<LogEvent[]> {
  return parseLines(await headless.events(id));
}

/** Closes the window, applies `change` to each line of the log, and opens it in another window. */
async function damage(walk: Walk, change: (line: string, event: LogEvent) => string): Promise<void> {
  const { headless, id } = walk;
  await headless.earshot.shutDown();
  const path = join(headless.storage, 'conversations', id, 'events.jsonl');
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  await writeFile(path, lines.map((line) => `${change(line, JSON.parse(line) as LogEvent)}\n`).join(''));
  walk.headless = await headless.restart();
  const opened = await walk.headless.earshot.open(id);
  if (!opened.ok) throw new Error(opened.failure.message);
  await walk.headless.earshot.settled(id);
}

const flipBit = (line: string) => line.replace('"content":"', '"content":#');

/** The calls that have no response before their turn ends. */
function unansweredAtEnds(events: readonly LogEvent[]): string[] {
  const open = new Set<string>();
  const left: string[] = [];
  for (const event of events) {
    if (event.type === 'tool_call_request') open.add(event.id);
    if (event.type === 'tool_call_response') open.delete(event.id);
    if (event.type === 'turn_ended' || event.type === 'turn_started') left.push(...open);
  }
  return [...left, ...open];
}

describe('a damaged log', () => {
  test('a flipped bit in the response of an earlier turn does not run its command again', async () => {
    const walk = await begin([{ calls: [append('a', 'once')] }]);
    await say(walk, 'Do it.');
    expect(await made(walk)).toBe('once\n');
    await damage(walk, (line, { type }) => (type === 'tool_call_response' ? flipBit(line) : line));
    walk.headless.frontend.asked.length = 0;
    await say(walk, 'Forget it.');
    expect(walk.headless.frontend.asked).toEqual([]);
    walk.model.script({ calls: [append('b', 'second')] });
    await say(walk, 'Another one.');
    expect(walk.headless.frontend.asked.map(({ call }) => call.id)).toEqual(['b']);
    expect(await made(walk)).toBe('once\nsecond\n');
  });

  test('missing turn starts and ends do not run their calls again', async () => {
    const walk = await begin([{ calls: [append('a', 'once')] }, { text: 'Done.' }, { text: 'Hello.' }]);
    await say(walk, 'Do it.');
    await say(walk, 'Hello?');
    const lost = new Set<LogEvent['type']>(['tool_call_response', 'turn_ended', 'turn_started', 'approval']);
    await damage(walk, (line, { type }) => (lost.has(type) ? `x${line}` : line));
    walk.headless.frontend.asked.length = 0;
    await say(walk, 'Go on.');
    expect(walk.headless.frontend.asked).toEqual([]);
    expect(await made(walk)).toBe('once\n');
  });

  test.each([
    ['quarantined in the middle', (line: string) => `x${line}`],
    ['damaged at the end of the log', (line: string) => line.slice(0, -1)],
  ])('an approval that is %s counts as given: its call may have run and is not offered again', async (_, spoil) => {
    const walk = await begin([{ calls: [append('a', 'once')] }]);
    const asked = Promise.withResolvers<void>();
    walk.headless.frontend.answer = (_, signal) => {
      asked.resolve();
      return untilAborted(signal);
    };
    await walk.headless.earshot.send(walk.id, 'Do it.');
    await asked.promise;
    const { log } = walk.headless.earshot.get(walk.id) ?? {};
    // As if the editor had died after the approval, with the command already started.
    await log?.append({ type: 'approval', tool_call_id: 'a', action: 'approve', by: 'user' });
    if (spoil('line').startsWith('x')) await log?.append({ type: 'title_set', title: 'A title' });
    await damage(walk, (line, { type }) => (type === 'approval' ? spoil(line) : line));
    expect(walk.headless.frontend.asked).toEqual([]);
    const responses = (await readable(walk)).filter((event) => event.type === 'tool_call_response');
    expect(responses.map(({ content }) => content)).toEqual([expect.stringMatching(/^Interrupted; may have run\./)]);
    expect(await made(walk)).toBe('');
  });

  test('a call that was certainly waiting for approval is offered again', async () => {
    const walk = await begin([{ calls: [append('a', 'once')] }]);
    const asked = Promise.withResolvers<void>();
    walk.headless.frontend.answer = (_, signal) => {
      asked.resolve();
      return untilAborted(signal);
    };
    await walk.headless.earshot.send(walk.id, 'Do it.');
    await asked.promise;
    // Damage before the call does not affect it.
    await damage(walk, (line, { type }) => (type === 'chat_request' ? flipBit(line) : line));
    expect(walk.headless.frontend.asked.map(({ call }) => call.id)).toEqual(['a']);
    expect(await made(walk)).toBe('once\n');
  });
});

test('a call left open by an earlier version is not offered when a later turn resumes after a restart', async () => {
  const walk = await begin([]);
  const { log } = walk.headless.earshot.get(walk.id) ?? {};
  const request = (id: string) => ({ type: 'tool_call_request' as const, ...append(id, id) });
  const answered = { type: 'model_call' as const, model: 'm', outcome: 'succeeded' as const };
  for (const [id, end] of [
    ['old', { type: 'turn_ended', outcome: 'error' }],
    ['new', undefined],
  ] as const) {
    await log?.append({ type: 'turn_started', source: 'user' });
    await log?.append({ type: 'chat_request', content: 'Go.', source: 'user' });
    await log?.append(request(id));
    await log?.append(answered);
    if (end !== undefined) await log?.append(end);
  }
  await damage(walk, (line) => line);
  expect(walk.headless.frontend.asked.map(({ call }) => call.id)).toEqual(['new']);
  expect(await made(walk)).toBe('new\n');
});

/** Rejects when aborted, and never resolves. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}

/** The events that can still be read from a damaged log. */
async function readable({ headless, id }: Walk): Promise<readonly LogEvent[]> {
  const read = await headless.ports.store.read(id);
  if (!read.ok) throw new Error(read.failure.message);
  return read.value.events;
}

describe('a turn that fails unexpectedly', () => {
  test('answers its call, and the next message does not run it', async () => {
    const walk = await begin([{ calls: [append('a', 'once')] }]);
    walk.headless.frontend.answer = async () => {
      throw new Error('the view is gone');
    };
    await say(walk, 'Do it.');
    walk.headless.frontend.answer = async () => ({ action: 'approve', by: 'user' });
    walk.headless.frontend.asked.length = 0;
    await say(walk, 'Forget it.');
    expect(walk.headless.frontend.asked).toEqual([]);
    expect(await made(walk)).toBe('');
    expect(unansweredAtEnds(await eventsOf(walk))).toEqual([]);
  });

  const answers: readonly ModelAnswer[] = [
    {
      calls: [
        { id: 'a', name: 'count', arguments: {} },
        { id: 'r', name: 'read_file', arguments: { path: 'read.txt' } },
      ],
    },
    { text: 'Done.' },
  ];

  test('wherever it fails, every call gets a response, the turn ends, and nothing runs in the next turn', async () => {
    let uses = Number.NaN;
    let failing = 0;
    let failed: string | undefined;
    let runs = 0;
    const count = (name: string) => {
      uses += 1;
      if (uses !== failing) return;
      failed = name;
      throw new Error(`a bug in ${name}`);
    };
    const counting = defineTool({
      name: 'count',
      description: 'Counts its runs.',
      effect: 'execute',
      arguments: {},
      run: async () => {
        runs += 1;
        return { content: 'counted', isError: false };
      },
    });
    const checkpoints: Checkpoints = {
      take: async () => succeeded({ name: 'checkpoint', leftOut: [] }),
      compare: async () => succeeded([]),
      changedAt: async () => new Map(),
      leftOut: async () => [],
      read: async () => new Map(),
    };
    const { settings } = readSettings((name) => (name === 'approvals.mode' ? 'all' : undefined));
    const model = createScriptedModel();
    const counted = { settings: () => settings, model: () => model };
    const ids: Ids = { ...realIds };
    const walk = await begin([], { model, ports: { ...counted, ids, tools: [counting, readFileTool], checkpoints } });
    const { ports, earshot, folder } = walk.headless;
    await writeFile(join(folder, 'read.txt'), 'text');
    for (const target of [ports.workspace, ports.snapshots, ports.frontend, ports.store, checkpoints, counted, ids]) {
      throwFrom(target, count);
    }
    const { settings: countedSettings, model: countedModel } = counted;
    Object.assign(ports, { settings: () => countedSettings(), model: () => countedModel() });
    const listening = earshot.onDidChange(({ folded }) => {
      if (folded?.event.type === 'chat_request' && failed === undefined) uses = 0;
    });

    const places = new Set<string>();
    for (failing = 1; ; failing++) {
      failed = undefined;
      const opened = await earshot.create();
      if (!opened.ok) throw new Error(opened.failure.message);
      const { log } = opened.value;
      const next: Walk = { ...walk, id: log.id };
      model.script(...answers);
      await say(next, 'Do it.');
      uses = Number.NaN;
      const where = failed as string | undefined;
      if (where === undefined) break;
      places.add(where);
      expect([where, unansweredAtEnds(await eventsOf(next)), log.state.turn.isOpen]).toEqual([where, [], false]);
      const before = runs;
      model.script();
      await say(next, 'Forget it.');
      expect([where, runs]).toEqual([where, before]);
      await earshot.close(next.id);
    }
    listening.dispose();
    // The order of use differs from run to run.
    expect([...places]).toEqual(expect.arrayContaining(['model', 'settings', 'render', 'read', 'take', 'ulid']));
  });
});

/** Makes every method call `count` with its name first. */
function throwFrom(target: object, count: (name: string) => void): void {
  const names = new Set([
    ...Object.keys(target),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(target) as object),
  ]);
  for (const name of names) {
    const method: unknown = Reflect.get(target, name);
    if (typeof method !== 'function' || name === 'constructor') continue;
    const counted = (...args: unknown[]): unknown => {
      count(name);
      return Reflect.apply(method, target, args) as unknown;
    };
    Object.defineProperty(target, name, { value: counted, configurable: true });
  }
}
