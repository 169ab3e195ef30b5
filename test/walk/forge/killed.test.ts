// The process that follows CI and a pull request by the real gh is killed at random moments while checks end, run again
// and people comment: each result and each comment is in the log exactly once.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { fastClock } from '../../support/forge/fastClock.ts';
import { check, endCheck } from '../../support/forge/fakeGitHub.ts';
import { gitIn, makePushedRepository, startForge } from '../../support/forge/pushedRepository.ts';
import { runs } from '../../support/runs.ts';

const child = resolve(import.meta.dirname, '../../crash/forgeChild.ts');
const KILLS = runs(2, 20);
/** How long a process lives at most after it has opened the conversation. */
const LIFE = 4000;
/** Results of one commit, before the next is pushed. */
const RESULTS = 4;

test(
  `killed ${KILLS} times, each result and each comment is in the log exactly once`,
  async () => {
    const { hub, root, env } = await startForge();
    const epoch = Date.now();
    const clock = fastClock(epoch);
    const folder = join(root, 'workspace');
    const id = realIds.ulid();
    await makePushedRepository(folder, join(root, 'bare.git'));
    const start = async (first: string) => {
      const started = spawn(process.execPath, ['--no-warnings', child, root, id, String(epoch), first], {
        env: { ...env, ...compileCache },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      atTestEnd(async () => void started.kill('SIGKILL'));
      const lines: string[] = [];
      const opened = Promise.withResolvers<void>();
      createInterface({ input: started.stdout }).on('line', (line) => {
        lines.push(line);
        opened.resolve();
      });
      await opened.promise;
      return async () => {
        const ended = once(started, 'exit');
        started.kill('SIGKILL');
        await ended;
        expect(lines).toEqual(['opened']);
      };
    };
    const logged = () => {
      const text = readFileSync(join(root, 'storage/conversations', id, 'events.jsonl'), 'utf8');
      // The last line may have been cut off by a kill.
      const events = text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogEvent] : []));
      return events.flatMap((event) => (event.type === 'notification_queued' ? [event.notification] : []));
    };
    const results = () =>
      logged().flatMap(({ kind, subject }) => (kind.source === 'ci' ? [`${subject?.split('@')[1]} ${kind.name}`] : []));
    const comments = () =>
      logged().flatMap(({ data }) => (data as { reviews?: readonly string[] } | undefined)?.reviews ?? []);

    let kill = await start('first');
    const expected: string[] = [];
    const state = { on: true };
    const people = (async () => {
      while (state.on) {
        await pause(300 + Math.random() * 600);
        const at = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
        const number = hub.comments.length;
        hub.comments.push({ id: number, user: { login: 'ada' }, body: `comment ${number}`, created_at: at });
      }
    })();
    /** Pushes commits, whose only check ends and runs again: the next result comes once the last one is in the log. */
    const server = (async () => {
      for (let count = 0; state.on; count += 1) {
        await writeFile(join(folder, 'b.txt'), `tea ${count}\n`);
        gitIn(folder, 'add', '.');
        gitIn(folder, 'commit', '--quiet', '-m', `tea ${count}`);
        gitIn(folder, 'push', '--quiet', 'origin', 'HEAD');
        const sha = gitIn(folder, 'rev-parse', 'HEAD');
        const build = check('build');
        hub.checks.set(sha, [build]);
        const open = { number: 7, branch: 'main', state: 'open' as const, draft: false, mergeable_state: 'clean', sha };
        hub.pulls = [{ ...open, merged_at: null, closed_at: null }];
        for (let index = 0; index < RESULTS; index += 1) {
          const result = index % 2 === 0 ? 'failure' : 'success';
          expected.push(`${sha} ${index % 2 === 0 ? 'failed' : 'passed'}`);
          endCheck(hub, build, result, new Date(clock.now()), [`it ${result}`]);
          while (!results().includes(expected.at(-1) ?? '') || results().length < expected.length) await pause(50);
        }
      }
    })();
    for (let count = 0; count < KILLS; count += 1) {
      await pause(Math.random() * LIFE);
      await kill();
      kill = await start('');
    }
    state.on = false;
    await Promise.all([people, server]);
    const written = hub.comments.map(({ id: number }) => Number(number));
    await expect
      .poll(() => comments().length, { timeout: 60_000, interval: 200 })
      .toBeGreaterThanOrEqual(written.length);
    await kill();
    expect(results()).toEqual(expected);
    expect(comments().map((one) => Number(/\d+$/.exec(one)?.[0]))).toEqual(written);
    process.stdout.write(`${KILLS} kills: ${expected.length} results and ${written.length} comments, each once.\n`);
  },
  60_000 + KILLS * 30_000,
);
