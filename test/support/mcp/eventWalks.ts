// Walks with a server that has events: the server of `eventServer.mjs`, its events and its faults.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Clock } from '../../../src/base/clock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { atTestEnd } from '../endings.ts';
import { type ScriptedAnswer } from '../models/scriptedServer.ts';
import { beginMcpWalk, call, type McpWalked, type McpWalkOptions } from './mcpWalk.ts';

const program = resolve(import.meta.dirname, 'eventServer.mjs');

export type EventTransport = 'stdio' | 'legacy' | 'http';

interface Noted {
  readonly method: string;
  readonly cursor?: string | null;
  readonly timeoutMs?: number;
}

export interface EventPlace {
  readonly folder: string;
  /** An event happens. */
  emit(...events: readonly object[]): void;
  /** What the server does wrong from now on. */
  fault(faults: object): void;
  /** The requests for events, oldest first. */
  requests(method?: string): readonly Noted[];
}

export function eventPlace(faults: object = {}): EventPlace {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-events-'));
  atTestEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const name of ['events.jsonl', 'requests.jsonl']) writeFileSync(join(folder, name), '');
  const fault = (wrong: object) => writeFileSync(join(folder, 'faults.json'), JSON.stringify(wrong));
  fault(faults);
  return {
    folder,
    fault,
    emit: (...events) => {
      appendFileSync(join(folder, 'events.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    },
    requests: (method) =>
      readFileSync(join(folder, 'requests.jsonl'), 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Noted]))
        .filter((one) => method === undefined || one.method === method),
  };
}

interface EventHttpServer {
  readonly port: number;
  kill(): Promise<void>;
}

async function startEventHttp(folder: string, port = 0): Promise<EventHttpServer> {
  const child = spawn(process.execPath, [program, folder, 'http', String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  atTestEnd(kill);
  const bound = await new Promise<number>((done) => child.stdout.once('data', (text) => done(Number(text))));
  return { port: bound, kill };
}

/** The configuration of the server on stdio. */
export function eventServer({ folder }: EventPlace, transport: Exclude<EventTransport, 'http'> = 'stdio'): object {
  return { command: process.execPath, args: [program, folder, transport] };
}

async function eventConfig(place: EventPlace, transport: EventTransport): Promise<object> {
  if (transport !== 'http') return eventServer(place, transport);
  const { folder } = place;
  return { url: `http://127.0.0.1:${(await startEventHttp(folder)).port}/mcp` };
}

/** The time of the system, but whoever waits for a while waits for a tenth of it. */
const impatientClock: Clock = { ...realClock, after: (milliseconds, run) => realClock.after(milliseconds / 10, run) };

export interface EventWalked extends McpWalked {
  readonly place: EventPlace;
}

/** The conversation is subscribed before the answers. */
export async function beginEvents(
  place: EventPlace,
  transport: EventTransport,
  answers: readonly ScriptedAnswer[],
  options: McpWalkOptions & { readonly wake?: boolean; readonly config?: object; readonly clock?: Clock } = {},
): Promise<EventWalked> {
  const { clock = impatientClock } = options;
  const config = options.config ?? (await eventConfig(place, transport));
  const args = { server: 's', event: 'issue.updated', ...(options.wake === true && { wake: true }) };
  const walk = await beginMcpWalk(
    { s: config },
    [call('subscribe_events', args), { text: ['Subscribed.'] }, ...answers],
    {
      ...options,
      settings: { 'notifications.activation': 'wake', ...options.settings },
      // The times of the log and of the server are compared.
      ports: { clock, ...options.ports },
      host: { clock, ...options.host },
    },
  );
  await walk.go();
  return { ...walk, place };
}

export function queued({ log }: Pick<McpWalked, 'log'>, name?: string): readonly Notification[] {
  return log.state.pending.notifications.filter(
    ({ kind }) => kind.source === 'mcp' && (name ?? kind.name) === kind.name,
  );
}

/** Resolves once a notification of this kind is queued, also one that was queued before. */
export function untilQueued({ log }: Pick<McpWalked, 'log'>, name: string, more = ''): Promise<Notification> {
  const isIt = ({ kind, message }: Notification) =>
    kind.source === 'mcp' && kind.name === name && message.includes(more);
  const before = log.state.pending.notifications.find(isIt);
  if (before !== undefined) return Promise.resolve(before);
  return new Promise((done) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_queued' || !isIt(event.notification)) return;
      listening.dispose();
      done(event.notification);
    });
  });
}

/** The ids of all events that the log has, in its order. */
export function idsIn(events: readonly LogEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'notification_queued' && event.notification.kind.source === 'mcp'
      ? ((event.notification.data?.['events'] ?? []) as readonly { readonly id: string }[]).map(({ id }) => id)
      : [],
  );
}
