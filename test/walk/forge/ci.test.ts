// CI of a pushed commit, with the real git and the real gh against a local server: to the bytes of the model's request.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { check, endCheck } from '../../support/forge/fakeGitHub.ts';
import { gitIn, startForge } from '../../support/forge/pushedRepository.ts';
import { beginIn, ciIn, passTime, pushing } from '../../support/forge/forgeWalks.ts';
import { call, done, eventsOf } from '../../support/walk/handleWalks.ts';

/** Each request starts gh. */
const SLOW = 300_000;

test(
  'a failed check of its own push wakes the conversation once, with the last lines of the step that failed',
  async () => {
    const world = await startForge();
    const { hub } = world;
    const walk = await beginIn(world, [pushing, done, { text: ['I see.'] }], {
      settings: { 'notifications.activation': 'wake' },
    });
    await walk.go('Push it.');
    const sha = gitIn(walk.headless.folder, 'rev-parse', 'HEAD');
    const linux = check('test / linux');
    const lint = check('lint');
    hub.checks.set(sha, [linux, lint]);
    await passTime(walk, async () => (await eventsOf(walk, 'commit_followed')).length > 0);
    expect(await eventsOf(walk, 'commit_followed')).toMatchObject([
      { repository: 'github.com/acme/tea', branch: 'main', sha, by: 'pushed', title: 'fix parser' },
    ]);
    await passTime(walk, () => hub.asked.some(({ path }) => path.includes('check-runs')));
    hub.annotations.set(linux.id, [
      { path: 'src/parse.ts', start_line: 12, annotation_level: 'failure', message: 'expected 1, got 2' },
      { path: '.github', start_line: 1, annotation_level: 'failure', message: 'Process completed with exit code 1.' },
    ]);
    const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    endCheck(hub, linux, 'failure', new Date(walk.clock.now()), lines);
    endCheck(hub, lint, 'success', new Date(walk.clock.now()), []);
    await passTime(walk, async () => (await ciIn(walk)).length > 0);
    await passTime(walk, () => walk.server.requests.length === 3);
    await walk.headless.earshot.settled(walk.id);
    const [failure, ...others] = await ciIn(walk);
    expect(others).toEqual([]);
    expect(failure).toMatchObject({
      level: 'error',
      origin: 'service',
      wake: true,
      subject: `ci:github.com/acme/tea@${sha}`,
    });
    expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'system']);
    const body = walk.server.requests.at(-1)?.body ?? '';
    const text = failure?.message ?? '';
    expect(text).toContain(`CI of ${sha.slice(0, 7)} (you pushed “fix parser”, pushed `);
    expect(text).toContain(
      'failed: 1 of 2 checks.\n“test / linux”, step “npm test”, 3 min. Its last lines (data from outside',
    );
    expect(text).toContain(
      '| line 30\n| Error: Process completed with exit code 1.\n| src/parse.ts:12: expected 1, got 2\n',
    );
    expect(text).not.toContain('line 16\n');
    expect(text).not.toContain('set up');
    expect(text).toContain(`gh run view ${linux.id * 10} -R acme/tea --log-failed has all.`);
    expect(text.length).toBeLessThanOrEqual(1500);
    expect(body).toContain(JSON.stringify(text).slice(1, -1));
    expect(body).toContain('source=\\"ci\\" name=\\"failed\\" level=\\"error\\"');
    // A re-run reports only a change.
    const before = hub.asked.length;
    await passTime(walk, () => hub.asked.length > before + 4);
    expect(await ciIn(walk)).toHaveLength(1);
    expect(hub.asked.at(-1)?.status).toBe(304);
    endCheck(hub, linux, 'success', new Date(walk.clock.now()), []);
    await passTime(walk, async () => (await ciIn(walk)).length === 2);
    expect((await ciIn(walk)).at(-1)).toMatchObject({ kind: { name: 'passed' }, level: 'info' });
    expect(walk.headless.errors).toEqual([]);
  },
  SLOW,
);

test(
  'the first failure is reported 30 s later, and further ones together at the end; a new push replaces the commit',
  async () => {
    const world = await startForge();
    const { hub } = world;
    const walk = await beginIn(world, [pushing, done, done]);
    await walk.go('Push it.');
    const first = gitIn(walk.headless.folder, 'rev-parse', 'HEAD');
    const checks = ['a', 'b', 'c'].map((name) => check(name));
    const [a, b] = checks;
    if (a === undefined || b === undefined) throw new Error('no checks');
    hub.checks.set(first, checks);
    await passTime(walk, () => hub.asked.some(({ path }) => path.includes('check-runs')));
    const failedAt = walk.clock.now();
    endCheck(hub, a, 'failure', new Date(failedAt), ['a is wrong']);
    await passTime(walk, async () => (await ciIn(walk)).length > 0);
    expect(walk.clock.now() - failedAt).toBeGreaterThanOrEqual(28_000);
    expect((await ciIn(walk))[0]?.message).toContain('failed: 1 of 3 checks, 2 still running.');
    endCheck(hub, b, 'failure', new Date(walk.clock.now()), ['b is wrong']);
    const seen = hub.asked.length;
    await passTime(walk, () => hub.asked.length > seen + 3);
    expect(await ciIn(walk)).toHaveLength(1);
    // A push of the user replaces the commit: nothing pending of it is news any more.
    await writeFile(join(walk.headless.folder, 'a.txt'), 'three\n');
    gitIn(walk.headless.folder, 'commit', '--quiet', '-am', 'by the user');
    gitIn(walk.headless.folder, 'push', '--quiet', 'origin', 'HEAD');
    await passTime(walk, async () => (await eventsOf(walk, 'notification_withdrawn')).length > 0);
    await walk.go('Next.');
    expect(walk.server.requests.at(-1)?.body).not.toContain('a is wrong');
    expect(walk.headless.errors).toEqual([]);
  },
  SLOW,
);

test(
  'off and ask mean that nothing is asked; a condition says what the user can do',
  async () => {
    const world = await startForge();
    const asked: string[] = [];
    const ask = (host: string, why: string) => void asked.push(`${host} ${why}`);
    for (const [forge, expected] of [
      ['off', 'the user has switched it off'],
      ['ask', 'the user has not allowed it yet'],
    ] as const) {
      const condition = call('wake_when', { name: 'green', when: { ci: 'HEAD', is: 'green' } });
      const walk = await beginIn(world, [pushing, { calls: [condition] }, done], {
        settings: { forge },
        forge: { env: world.env, ask },
      });
      await walk.go('Push it.');
      // A few looks, in which something could be asked.
      await passTime(walk, () => forge === 'off' || asked.length > 1, 5);
      expect(walk.server.requests.at(-1)?.body).toContain(expected);
      expect(await eventsOf(walk, 'commit_followed')).toEqual([]);
      await walk.headless.end();
    }
    expect(world.hub.asked).toEqual([]);
    expect([...new Set(asked)].sort()).toEqual(['github.com condition', 'github.com push']);
  },
  SLOW,
);

test(
  'a gh that is not signed in, is missing or is refused says what to do, and nothing stops',
  async () => {
    const world = await startForge();
    const { GH_TOKEN: _, ...signedOut } = world.env;
    const cases = [
      [signedOut, 'gh is not signed in to github.com: run gh auth login.'],
      [{ ...world.env, PATH: '/nowhere' }, 'GitHub CLI (gh) is not installed, or not on the PATH.'],
      [{ ...world.env, GH_TOKEN: 'wrong' }, 'github.com does not accept the sign-in any more (401).'],
    ] as const;
    for (const [env, expected] of cases) {
      const troubles: string[] = [];
      const condition = call('wake_when', { name: 'green', when: { ci: 'HEAD', is: 'green' } });
      const walk = await beginIn(world, [pushing, { calls: [condition] }, done], {
        forge: { env, trouble: (message) => void troubles.push(message) },
      });
      await walk.go('Push it.');
      await passTime(walk, () => troubles.length > 0);
      await passTime(walk, () => true, 40);
      expect(troubles).toEqual([expected]);
      expect(walk.server.requests.at(-1)?.body).toContain(expected);
      expect(walk.headless.errors).toEqual([]);
      await walk.headless.end();
    }
  },
  SLOW,
);
