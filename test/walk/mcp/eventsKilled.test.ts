// The process that follows events of MCP servers is killed at random moments while events happen: each is in the log
// exactly once, in its order, over a stream and by polling.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { runs } from '../../support/runs.ts';

const child = resolve(import.meta.dirname, '../../crash/eventsChild.ts');
const KILLS = runs(2, 20);
/** A window lives for up to this long after its servers are connected. */
const LIFE = 2500;
/** Events while it starts; of more than 500 that wait, some are skipped. */
const MOST_MEANWHILE = 20;
const SERVERS = ['poll', 'push'] as const;

test(
  `killed ${KILLS} times, each event is in the log exactly once`,
  async () => {
    const root = await mkdtemp(join(tmpdir(), 'earshot-events-killed-'));
    atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
    const id = realIds.ulid();
    mkdirSync(join(root, 'workspace'));
    for (const server of SERVERS) {
      mkdirSync(join(root, server));
      writeFileSync(join(root, server, 'events.jsonl'), '');
      const types = [{ name: 'issue.updated', delivery: [server] }];
      writeFileSync(
        join(root, server, 'faults.json'),
        JSON.stringify({ types, doubled: server === 'poll', held: 200 }),
      );
    }
    const start = async (first: string) => {
      const started = spawn(process.execPath, ['--no-warnings', child, root, id, first], {
        env: { ...process.env, ...compileCache },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      atTestEnd(async () => void started.kill('SIGKILL'));
      const lines: string[] = [];
      const ready = Promise.withResolvers<void>();
      createInterface({ input: started.stdout }).on('line', (line) => {
        lines.push(line);
        if (line.startsWith('subscribed')) ready.resolve();
      });
      await ready.promise;
      expect(lines).toEqual(['subscribed 2 false']);
      return async () => {
        const ended = once(started, 'exit');
        started.kill('SIGKILL');
        await ended;
      };
    };
    const reported = () => {
      const text = readFileSync(join(root, 'storage/conversations', id, 'events.jsonl'), 'utf8');
      // The last line may have been cut off by a kill.
      const events = text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogEvent] : []));
      const notifications = events.flatMap((event) =>
        event.type === 'notification_queued' ? [event.notification] : [],
      );
      const data = notifications.map((one) => one.data as { from?: string; events?: { id: string }[] } | undefined);
      const of = (server: string) =>
        data.flatMap((one) => (one?.from === server ? (one.events ?? []) : [])).map((event) => event.id);
      return { poll: of('poll'), push: of('push'), kinds: new Set(notifications.map(({ kind }) => kind.name)) };
    };
    let kill = await start('first');
    const writing = { on: true, left: Number.POSITIVE_INFINITY };
    const expected: string[] = [];
    const writer = (async () => {
      while (writing.on) {
        await pause(60);
        if (writing.left <= 0) continue;
        writing.left -= 1;
        expected.push(`e${expected.length}`);
        for (const server of SERVERS) {
          appendFileSync(
            join(root, server, 'events.jsonl'),
            `${JSON.stringify({ id: expected.at(-1), n: expected.length })}\n`,
          );
        }
      }
    })();
    for (let count = 0; count < KILLS; count += 1) {
      await pause(Math.random() * LIFE);
      writing.left = MOST_MEANWHILE;
      await kill();
      kill = await start('');
      writing.left = Number.POSITIVE_INFINITY;
    }
    writing.on = false;
    await writer;
    await expect.poll(() => reported().push.length, { timeout: 60_000, interval: 200 }).toBe(expected.length);
    await expect.poll(() => reported().poll.length, { timeout: 60_000, interval: 200 }).toBe(expected.length);
    const { poll, push, kinds } = reported();
    expect(push).toEqual(expected);
    expect(poll).toEqual(expected);
    expect([...kinds]).toEqual(['event']);
    await kill();
  },
  60_000 + KILLS * 30_000,
);
