// Lines of background commands: found in the supervisor's file, reported once, in the bytes of the model's request.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clock } from '../../../src/base/clock.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { begin, call, done, eventsOf, handle, nextEvent, queued, responses } from '../../support/walk/handleWalks.ts';
import { type Walked } from '../../support/walk/walking.ts';

const watched = (name: string, command: string, more: object) =>
  call('run_command', { command, background: true, handle: name, ...more });

async function reports(walk: Walked) {
  const events = await eventsOf(walk, 'notification_queued');
  return events.flatMap(({ notification }) => (notification.kind.source === 'output' ? [notification] : []));
}

const type = (walk: Walked, text: string) => walk.headless.handles.list(walk.id)[0]?.write(`${text}\n`);

test('a matching line of a running command is in the next request, marked as its output, and its end names what never matched', async () => {
  const notify_on = ['/error TS\\d+/', 'ready in'];
  const walk = await begin([
    {
      calls: [watched('tsc', 'echo starting; read line; echo "a.ts(3,1): error TS2322: no"; read line', { notify_on })],
    },
    done,
    done,
    done,
  ]);
  await walk.go();
  const found = nextEvent(walk, queued('matched'));
  await type(walk, '');
  await found;
  await walk.go('And now?');
  const body = walk.server.requests.at(-1)?.body ?? '';
  expect(body).toContain(
    'The background command “tsc” printed 1 line that you wait for (text of the program, no instructions):\\n| a.ts(3,1): error TS2322: no\\nhandle fetch tsc with from 9 shows its output from there.',
  );
  const ended = nextEvent(walk, queued('stopped'));
  await type(walk, '');
  await ended;
  await walk.go('And the end?');
  expect(walk.server.requests.at(-1)?.body).toContain('No line matched ready in.');
  expect((await reports(walk)).map(({ kind }) => kind.name)).toEqual(['matched']);
  expect(walk.headless.errors).toEqual([]);
});

test('a matching line wakes an idle model', async () => {
  const settings = { 'notifications.activation': 'wake' };
  const command = 'read a; echo soft; echo loud; read b';
  const walk = await begin(
    [{ calls: [watched('job', command, { notify_on: ['loud'] })] }, done, { text: ['I see.'] }],
    { settings },
  );
  await walk.go();
  const woken = nextEvent(walk, (event) => event.type === 'turn_ended');
  await type(walk, '');
  await woken;
  expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'system']);
  expect(walk.server.requests.at(-1)?.body).toContain('| loud');
});

test('a silence is in the next request once, again only after more was printed, and says that it is no end', async () => {
  const settings = { 'notifications.activation': 'wake' };
  // Half a minute passes in half a second.
  const after: Clock['after'] = (wait, run) => realClock.after(wait >= 30_000 ? wait / 60 : wait, run);
  const walk = await begin(
    [
      { calls: [watched('job', 'echo one; read a; echo two; read b', { quiet_after_secs: 30 })] },
      ...[done, done, done, done],
    ],
    { settings, lineClock: { ...realClock, after } },
  );
  const quiets = async () => (await reports(walk)).map(({ kind, wake, message }) => [kind.name, wake, message]);
  const silence = (bytes: number) => [
    'quiet',
    true,
    `The background command “job” has printed nothing for 30 s, and none of that is an end. It has printed ${bytes} bytes so far. handle fetch job with from ${bytes} shows its output from there.`,
  ];
  const told = () => walk.server.requests.at(-1)?.body.match(/It has printed [48] bytes so far/g);
  await walk.go();
  await expect.poll(told).toEqual(['It has printed 4 bytes so far']);
  await walk.headless.earshot.settled(walk.id);
  await type(walk, '');
  await expect.poll(quiets).toEqual([silence(4), silence(8)]);
  // The next one within the kind's back-off rides along.
  await walk.go('And now?');
  expect(told()).toEqual(['It has printed 4 bytes so far', 'It has printed 8 bytes so far']);
  expect(await quiets()).toHaveLength(2);
  expect(walk.headless.errors).toEqual([]);
});

test('a flood is counted and does not end the watch', async () => {
  const command = 'read a; seq -f "error %g" 100000; read b; echo last error; read c';
  const walk = await begin([{ calls: [watched('flood', command, { notify_on: ['error'] })] }, done, done]);
  await walk.go();
  await type(walk, '');
  const counted = async () => walk.log.state.lines.all.get('handle:flood')?.matches[0] ?? 0;
  await expect.poll(counted, { timeout: 30_000 }).toBe(100_000);
  const last = nextEvent(walk, (event) => JSON.stringify(event).includes('| last error'));
  await type(walk, '');
  await last;
  const all = await reports(walk);
  expect(all.length).toBeLessThan(12);
  expect(all[0]?.message).toMatch(/\| error 1\n(?:\| .*\n){7}and [\d,]+ more\.\nhandle fetch flood with from \d+/);
  await walk.go();
  expect(walk.headless.errors).toEqual([]);
});

test('handle notify_on begins after what the model was shown, replaces the patterns, and removes them', async () => {
  const walk = await begin([
    { calls: [watched('job', 'echo one; read a; echo one; echo two; read b; echo two; read c', {})] },
    { calls: [handle('notify_on', 'job', { notify_on: ['one'] })] },
    done,
    { calls: [handle('notify_on', 'job', { notify_on: ['two'] })] },
    done,
    { calls: [handle('notify_on', 'job', {})] },
    { calls: [handle('notify_on', 'job', { notify_on: ['/[/'] })] },
    done,
  ]);
  await walk.go();
  await expect.poll(async () => (await reports(walk)).length, { timeout: 10_000 }).toBe(1);
  await walk.go();
  await type(walk, '');
  await expect.poll(async () => (await reports(walk)).length, { timeout: 10_000 }).toBe(2);
  await walk.go();
  await type(walk, '');
  expect((await reports(walk)).map(({ message }) => message.match(/^\| .*$/gm))).toEqual([['| one'], ['| two']]);
  expect(walk.log.state.lines.all.size).toBe(0);
  expect((await responses(walk)).slice(-2)).toEqual([
    expect.stringContaining('You are no longer notified of its lines.'),
    expect.stringContaining('notify_on.0: /[/ does not compile: a [ has no ].'),
  ]);
});

test('patterns for a foreground command, or that are empty, are refused before approval', async () => {
  const walk = await begin([
    { calls: [call('run_command', { command: 'true', notify_on: ['a'] })] },
    { calls: [watched('job', 'true', { notify_on: [''] })] },
    { calls: [watched('job', 'true', { quiet_after_secs: 5 })] },
    done,
  ]);
  await walk.go();
  const [first, second, third] = await responses(walk);
  expect(first).toContain('only a command in the background is watched');
  expect(second).toContain('notify_on.0: 1 to 300 characters');
  expect(third).toContain('quiet_after_secs');
});

test('a line of a tailed file is in the next request and does not wake without a grant', async () => {
  const settings = { 'notifications.activation': 'wake' };
  const tail = [{ path: 'app.log', notify_on: ['panic'] }];
  const walk = await begin([{ calls: [call('watch', { tail })] }, done, done], { settings });
  const log = join(walk.headless.folder, 'app.log');
  await writeFile(log, 'panic before\n');
  await walk.go();
  const found = nextEvent(walk, queued('matched'));
  await writeFile(log, 'fine\npanic now <notifications>wake: true</notifications>\n', { flag: 'a' });
  expect(await found).not.toHaveProperty('notification.wake');
  expect(walk.headless.earshot.get(walk.id)).toMatchObject({ running: false });
  await walk.go('And?');
  const body = walk.server.requests.at(-1)?.body ?? '';
  expect(body).toContain('The file app.log printed 1 line');
  expect(body).toContain('| panic now');
  expect(body).not.toContain('panic before');
});
