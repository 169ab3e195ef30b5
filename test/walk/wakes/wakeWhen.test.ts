// wake_when, from the call to the bytes of the request that the wake sends: timers, conditions, grants.
import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { succeeded } from '../../../src/base/errors.ts';
import { scopeOf } from '../../../src/protocol/scopes.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { EditorProblems } from '../../support/notify/editorProblems.ts';
import { publish } from '../../support/walk/deliveryWalks.ts';
import { background, call, done, eventsOf, nextEvent, responses } from '../../support/walk/handleWalks.ts';
import { beginWake, fires, HOUR, MINUTE, nextFire, untilAsked, wakeWhen } from '../../support/walk/wakeWalks.ts';

const body = (walk: Awaited<ReturnType<typeof beginWake>>, number: number) => walk.server.requests[number]?.body ?? '';

test('a timer wakes the model once, with its note, after the turn has ended', async () => {
  const walk = await beginWake([
    { calls: [wakeWhen('tea', { when: { after: '20m' }, note: 'Pour the tea.' })] },
    done,
    { text: ['Poured.'] },
  ]);
  await walk.go();
  const [answered = ''] = await responses(walk);
  expect(answered).toMatch(/^Set\. Due at \d\d:\d\d \(it is \d\d:\d\d\)\. You can end your turn\.$/);
  walk.clock.advance(19 * MINUTE);
  expect(walk.server.requests).toHaveLength(2);
  const fired = nextFire(walk);
  walk.clock.advance(MINUTE);
  const { kind, message, wake } = await fired;
  expect([kind, wake]).toEqual([{ source: 'time', name: 'due' }, true]);
  expect(message).toMatch(/^The timer “tea” that you set at \d\d:\d\d is due\.\nYour note: Pour the tea\.$/);
  await untilAsked(walk, 3);
  expect(body(walk, 2)).toContain('The timer “tea” that you set at');
  expect(body(walk, 2)).toContain('Your note: Pour the tea.');
  walk.clock.advance(24 * HOUR);
  expect(await fires(walk)).toHaveLength(1);
  expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'system']);
  expect(walk.headless.errors).toEqual([]);
});

test('a timer wakes although its grant was planned a millisecond before it was written', async () => {
  const walk = await beginWake([done, { text: ['Poured.'] }]);
  await walk.go();
  const until = walk.clock.now() + 20 * MINUTE - 1;
  const set = { name: 'tea', when: { after: '20m' }, until, most: 1, note: '', call: 'c' };
  expect(await walk.headless.wakes.set(walk.id, set)).toMatchObject({ ok: true });
  walk.clock.advance(20 * MINUTE);
  await untilAsked(walk, 2);
  expect(await fires(walk)).toHaveLength(1);
});

test('a condition over a real command, file and port fires when all hold, and its evidence replaces their own reports', async () => {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
  });
  const when = {
    all: [
      { handle: 'build', is: 'ok' },
      { output: 'build', has: 'READY in' },
      { file: 'dist.js', is: 'exists' },
      { port, is: 'open' },
    ],
  };
  const walk = await beginWake([
    { calls: [background('build', 'read x; echo ready in 3 s')] },
    { calls: [wakeWhen('ready', { when, note: 'Deploy.' })] },
    done,
    done,
  ]);
  await walk.go();
  await writeFile(join(walk.headless.folder, 'dist.js'), 'x');
  const progress = nextEvent(walk, (event) => event.type === 'wake_progress');
  const fired = nextFire(walk);
  const [build] = walk.headless.handles.list(walk.id);
  await build?.write('\n');
  expect(await progress).toMatchObject({ name: 'ready', atom: 1, evidence: 'printed “ready in 3 s”' });
  // Files are looked at every 2 s; each look is real work on the disk, so the time passes step by step.
  const isFired = fired.then(() => true);
  while (!(await Promise.race([isFired, pause(20)]))) walk.clock.advance(1000);
  const { message, data } = await fired;
  expect(message.split('\n')).toEqual([
    expect.stringMatching(/^The condition “ready” that you set at \d\d:\d\d is met\.$/),
    expect.stringMatching(/^✓ handle build is ok: ended with exit code 0 after .* s$/),
    'Last lines:',
    '| ready in 3 s',
    '✓ output of build has “READY in”: printed “ready in 3 s”',
    '✓ file dist.js exists: it exists',
    `✓ port ${port} is open: something listens`,
    'Your note: Deploy.',
  ]);
  expect(data).toEqual({ wake: 'ready', handles: ['build'] });
  await untilAsked(walk, 4);
  expect(body(walk, 3)).toContain('The condition “ready” that you set at');
  // The end of the command woke nobody by itself and is not reported twice.
  expect(body(walk, 3)).not.toContain('The background command “build”');
  expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'system']);
  await new Promise((resolve) => server.close(resolve));
  expect(walk.headless.errors).toEqual([]);
});

const pause = (milliseconds: number) =>
  new Promise<false>((resolve) => {
    setTimeout(() => resolve(false), milliseconds);
  });

test('a condition that cannot be met any more fires at once and shows why', async () => {
  const walk = await beginWake([
    { calls: [background('build', 'read x; echo no space left; exit 2')] },
    { calls: [wakeWhen('built', { when: { handle: 'build', is: 'ok' } })] },
    done,
    done,
  ]);
  await walk.go();
  const fired = nextFire(walk);
  await walk.headless.handles.list(walk.id)[0]?.write('\n');
  const { kind, message } = await fired;
  expect(kind).toEqual({ source: 'wake', name: 'expired' });
  expect(message).toMatch(
    /cannot be met any more\.\n✗ handle build is ok: ended with exit code 2 .*\nLast lines:\n\| no space left$/,
  );
  await untilAsked(walk, 4);
  expect(body(walk, 3)).not.toContain('The background command “build”');
});

test('at the deadline a condition fires with what is unknown', async () => {
  const editor = new EditorProblems();
  const editorClock = createManualClock();
  const problems = editor.facts(editorClock);
  editor.report('src/a.ts', 'info');
  editor.report('lib/b.ts', 'error');
  editor.report('test/c.ts', 'error', 'warning');
  editorClock.advance(MINUTE);
  const none = ['lib/**', 'test/**'].map((glob) => ({ problems: glob, is: 'none' }));
  const when = { all: [{ problems: 'src/**', is: 'some' }, ...none, { notify: 'deploy' }] };
  const walk = await beginWake([{ calls: [wakeWhen('late', { when, or_after: '30m' })] }, done, done], {
    wakes: { problems },
  });
  await walk.go();
  const fired = nextFire(walk);
  walk.clock.advance(30 * MINUTE);
  const { kind, message } = await fired;
  expect(kind.name).toBe('expired');
  expect(message).toMatch(
    /was not met until \d\d:\d\d\.\n– problems in src\/\*\*: some: no errors or warnings\n– problems in lib\/\*\*: none: 1 error or warning\n– problems in test\/\*\*: none: 2 errors and warnings\n– line of/,
  );
  await untilAsked(walk, 3);
});

test('conditions on notifications count what comes later, by kind, script and MCP server', async () => {
  const when = { all: [{ notify: 'deploy' }, { event: 'github' }, { notified: 'git.head_changed', has: 'MAIN' }] };
  const walk = await beginWake([{ calls: [wakeWhen('all', { when })] }, done, done]);
  const scopes = [scopeOf('conversation', walk.id)];
  const draft = (source: string, name: string, message: string, more: readonly string[] = []) => ({
    ...{ kind: { source, name }, level: 'info' as const, message, origin: 'host' as const },
    ...{ scopes: [...scopes, ...more], at: '2026-01-01T00:00:00.000Z' },
  });
  const [script, event, head] = [
    draft('script', 'deploy', 'Deployed to staging.'),
    draft('mcp', 'event', 'Issue 12 was closed.', ['mcp:github']),
    draft('git', 'head_changed', 'The branch main was checked out.'),
  ];
  const subscribed = {
    type: 'events_subscribed',
    name: 'github',
    server: 'github',
    identity: 'i',
    event: 'issue',
  } as const;
  await walk.log.append({ ...subscribed, mode: 'push' });
  await publish(walk, script, event, head);
  await walk.go();
  const fired = nextFire(walk);
  await publish(walk, draft('script', 'build', 'Built.'), script, draft('mcp', 'event', 'x', ['mcp:gitlab']), event);
  await publish(walk, draft('git', 'head_changed', 'The branch dev was checked out.'));
  expect(await fires(walk)).toEqual([]);
  await publish(walk, head);
  expect((await fired).message.split('\n').slice(1)).toEqual([
    '✓ line of the script “deploy”: Deployed to staging.',
    '✓ event of “github”: Issue 12 was closed.',
    '✓ git.head_changed with “MAIN”: The branch main was checked out.',
  ]);
  await untilAsked(walk, 3);
});

test('what holds already is answered at once, and nothing is set', async () => {
  const walk = await beginWake([{ calls: [wakeWhen('now', { when: { file: 'gone.js', is: 'gone' } })] }, done]);
  await walk.go();
  expect(await responses(walk)).toEqual([
    'It holds already, so nothing was set.\n✓ file gone.js is gone: there is no such file',
  ]);
  expect(await eventsOf(walk, 'wake_set')).toEqual([]);
  expect(await eventsOf(walk, 'wake_granted')).toEqual([]);
});

test('a change of a file that is too large to be read is noticed', async () => {
  const when = { file: 'disk.img', is: 'changed' };
  const walk = await beginWake([{ calls: [wakeWhen('built', { when })] }, done, done]);
  const image = join(walk.headless.folder, 'disk.img');
  await writeFile(image, '');
  await truncate(image, 60 * 1024 * 1024);
  await walk.go();
  const fired = nextFire(walk);
  await appendFile(image, 'x');
  // A look that is still running when the time comes is not repeated.
  const looks = setInterval(() => walk.clock.advance(2000), 50);
  const { message } = await fired.finally(() => clearInterval(looks));
  expect(message).toContain('it changed');
});

test('a repeated timer fires each time, names what it missed, and ends with its number', async () => {
  const walk = await beginWake([
    { calls: [wakeWhen('poll', { every: '10m', most: 3, note: 'Look.' })] },
    done,
    done,
    done,
    done,
  ]);
  await walk.go();
  for (const asked of [3, 4]) {
    walk.clock.advance(10 * MINUTE);
    await untilAsked(walk, asked);
  }
  // As after a sleep: three times have passed.
  walk.clock.setBack(-30 * MINUTE);
  walk.clock.advance(30_000);
  await untilAsked(walk, 5);
  const [, second, third] = await fires(walk);
  expect(second?.message).toMatch(/is due\.\nYour note: Look\.$/);
  expect(third?.message).toMatch(
    /is due\. It was due at \d\d:\d\d, \d\d:\d\d, \d\d:\d\d; it is \d\d:\d\d now\.\nYour note: Look\.\nIt was the last of 3\./,
  );
  expect(third?.data).toEqual({ wake: 'poll', missed: 2 });
  walk.clock.advance(24 * HOUR);
  expect(await fires(walk)).toHaveLength(3);
  expect(walk.log.state.wakes.count).toBe(0);
});

test('a repeated timer goes on after its pending fire is dismissed', async () => {
  const walk = await beginWake([{ calls: [wakeWhen('poll', { every: '10m', most: 3 })] }, done, done], {
    settings: { 'notifications.activation': 'passive' },
  });
  await walk.go();
  for (const count of [1, 2, 3]) {
    const fired = nextFire(walk);
    walk.clock.advance(10 * MINUTE);
    const { id } = await fired;
    expect(await fires(walk)).toHaveLength(count);
    await walk.headless.earshot.get(walk.id)?.log.append({ type: 'notification_withdrawn', ids: [id], reason: 'x' });
  }
  expect(walk.log.state.wakes.count).toBe(0);
});

test('the list, a replaced and a cancelled timer', async () => {
  const walk = await beginWake([
    { calls: [wakeWhen('a', { when: { after: '10m' } }), wakeWhen('b', { when: { after: '2h' }, note: 'n' })] },
    { calls: [wakeWhen('a', { when: { after: '3h' } })] },
    { calls: [call('wake_when', { cancel: 'b' })] },
    { calls: [call('wake_when', { cancel: 'b' })] },
    { calls: [call('wake_when', {})] },
    done,
  ]);
  await walk.go();
  const [, , , cancelled = '', missing = '', list = ''] = await responses(walk);
  expect(cancelled).toMatch(/^Cancelled\. a: timer, due at .*\d\d:\d\d\.$/);
  expect(missing).toMatch(/^cancel: nothing with the name “b” is set\. a: timer/);
  expect(list).toMatch(/^a: timer, due at/);
  walk.clock.advance(2 * HOUR + MINUTE);
  expect(await fires(walk)).toEqual([]);
});

test('inside a turn, await takes the same conditions', async () => {
  const walk = await beginWake([
    { calls: [background('server', 'read x; echo listening; sleep 1000')] },
    { calls: [call('await', { when: { any: [{ output: 'server', has: 'listening' }, { after: '2h' }] } })] },
    { calls: [call('await', { when: { output: 'other', has: 'x' } })] },
    { calls: [call('await', { when: { nothing: 1 } })] },
    done,
  ]);
  const waits = nextEvent(walk, (event) => event.type === 'tool_call_request' && event.name === 'await');
  const turn = walk.go();
  await waits;
  await walk.headless.handles.list(walk.id)[0]?.write('\n');
  await turn;
  const [, waited, unknown, bad] = await responses(walk);
  expect(waited).toBe('It holds.\n✓ output of server has “listening”: printed “listening”\n– after 2h');
  expect(unknown).toBe('when: “output of other has “x””: there is no handle “other”. There are: server.');
  expect(bad).toMatch(/^when: “nothing” is no condition; there are handle, /);
  expect(await eventsOf(walk, 'wake_set')).toEqual([]);
});

test('bad input names the argument and the next step', async () => {
  const bad: [object, RegExp][] = [
    [
      { name: 'x', when: { handle: 'build', is: 'ok' } },
      /there is no handle “build”\. There are none: start a background command first\./,
    ],
    [{ name: 'x', when: { at: '2020-01-01T00:00' } }, /^when\.at: .* has passed/],
    [{ name: 'x', when: { after: '9d' } }, /^when: it may not lie more than 7d ahead/],
    [
      { name: 'x', when: { any: [{ after: '2h' }, { notify: 'a' }] } },
      /^or_after: the deadline .* is before a time in when/,
    ],
    [{ name: 'x', every: '1m' }, /^every: 5m to 7d/],
    [{ name: 'x', every: 'daily' }, /^every: “daily” is no duration/],
    [{ name: 'x', when: { after: '5m' }, every: '5m' }, /^when, every: give one of them/],
    [{ name: 'x', when: { after: '5m' }, most: 2 }, /^most: it counts only together with every/],
    [{ when: { after: '5m' } }, /^name: give it a name/],
    [{ name: 'no spaces', when: { after: '5m' } }, /name: /],
    [{ name: 'x', when: { notify: 'a' }, or_after: '30d' }, /^or_after: at most 7d/],
    [{ name: 'x', when: { task: 'test', is: 'ok' } }, /tasks of an editor cannot be followed here; use a handle/],
    [
      { name: 'x', when: { event: 'github/issue.updated' } },
      /^when: .*: event: nothing is subscribed from “github\/issue\.updated”\. Call subscribe_events first\.$/,
    ],
    [
      { name: 'x', when: { notified: 'nonsense.kind' } },
      /notified: there is no kind of notification “nonsense\.kind”\. It begins with one of: file, git, /,
    ],
    [
      { name: 'x', when: { notified: 'git.nonsense' } },
      /there is no kind of notification “git\.nonsense”\. There are: git\.head_changed/,
    ],
    [{ name: 'x', when: { notified: 'git' } }, /no kind of notification “git”\. There are: git\.head_changed/],
    [{ name: 'x', when: { notified: 'wake.met' } }, /notified: timers and conditions do not wait for each other/],
    [{ name: 'x', when: { file: '../../etc/passwd', is: 'exists' } }, /outside|leads out/],
  ];
  const calls = bad.map(([args]) => call('wake_when', args));
  const walk = await beginWake([{ calls }, done]);
  await walk.go();
  const answered = new Map((await eventsOf(walk, 'tool_call_response')).map(({ id, content }) => [id, content]));
  for (const [index, [, message]] of bad.entries()) expect(answered.get(calls[index]?.id ?? '')).toMatch(message);
  expect(await eventsOf(walk, 'wake_set')).toEqual([]);
  const full = Array.from({ length: 21 }, (_, index) => wakeWhen(`w${index}`, { when: { after: '1h' } }));
  const many = await beginWake([{ calls: full }, done]);
  await many.go();
  const refusals = (await responses(many)).filter((content) => !content.startsWith('Set.'));
  expect(refusals).toEqual(['name: 20 timers and conditions are set already. Cancel one first.']);
});

test('a condition on a task names one that the editor has', async () => {
  const list = async () => succeeded([{ name: 'npm: test', background: false }]);
  const tasks = { list, onDidEnd: () => ({ dispose: () => undefined }) };
  const calls = ['npm: test', 'test', 'tset'].map((task, index) => wakeWhen(`w${index}`, { when: { task, is: 'ok' } }));
  const walk = await beginWake([{ calls }, done], { wakes: { tasks } });
  await walk.go();
  expect((await responses(walk)).toSorted()).toEqual([
    expect.stringMatching(/^Set\./),
    expect.stringMatching(/^Set\./),
    'when: “task “tset” is ok”: task: there is no task “tset”. There are: npm: test.',
  ]);
});

test('a condition may name the command that another call of the same answer starts', async () => {
  const calls = [wakeWhen('deploy', { when: { handle: 'build', is: 'ended' } }), background('build', 'sleep 1000')];
  const walk = await beginWake([{ calls }, done], { settings: { 'approvals.mode': 'reads' } });
  await walk.go();
  // It waited for the command.
  expect(await responses(walk)).toEqual([expect.stringContaining('handle “build”'), expect.stringMatching(/^Set\./)]);
});
