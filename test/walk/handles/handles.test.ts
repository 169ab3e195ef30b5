// Background commands: names, output, input, end; each state is reported once, by a result or a notification.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replaceTimeout } from '../../support/replaceTimeout.ts';
import {
  background,
  begin,
  call,
  deliveredBlocks,
  done,
  eventsOf,
  handle,
  lastCall,
  nextEvent,
  queued,
  responses,
} from '../../support/walk/handleWalks.ts';

describe('a handle', () => {
  test('that ends while idle is reported once with the next request, with exit code, duration and last lines', async () => {
    const walk = await begin([
      { calls: [background('build', 'echo compiling; read line; echo failed: no; exit 3')] },
      done,
      done,
      done,
    ]);
    await walk.go();
    const ending = nextEvent(walk, queued('failed'));
    await walk.headless.handles.list(walk.id)[0]?.write('\n');
    await ending;
    await walk.go('And now?');
    await walk.go('And now?');
    const [carrier, ...others] = (await eventsOf(walk, 'chat_request')).filter((event) => event.notifications);
    expect(others).toEqual([]);
    expect(carrier?.notifications?.text).toMatch(
      /name="failed" level="error"[^>]*><!\[CDATA\[The background command “build” \(echo compiling; .*\) ended with exit code 3 after \d.*s\.\nLast lines:\ncompiling\nfailed: no\]\]>/,
    );
    const [event] = await eventsOf(walk, 'handle_started');
    expect(event).toMatchObject({ name: 'build', pid: expect.any(Number) as number });
  });

  test('that ends while idle wakes the model', async () => {
    const walk = await begin([{ calls: [background('build', 'read line; exit 3')] }, done, { text: ['I see.'] }], {
      settings: { 'notifications.activation': 'wake' },
    });
    await walk.go();
    const woken = nextEvent(walk, (event) => event.type === 'turn_ended');
    await walk.headless.handles.list(walk.id)[0]?.write('\n');
    await woken;
    expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'system']);
    expect((await deliveredBlocks(walk)).match(/ended with exit code 3/g)).toHaveLength(1);
  });

  test('is reported in at most 900 characters, including the last lines of output', async () => {
    const walk = await begin([
      { calls: [background('long', `read line; seq -f 'line %g of many that are printed' 5000`)] },
      done,
      done,
    ]);
    const ending = nextEvent(walk, queued('stopped'));
    await walk.go();
    await walk.headless.handles.list(walk.id)[0]?.write('\n');
    const event = await ending;
    const message = event.type === 'notification_queued' ? event.notification.message : '';
    expect(message).toMatch(/Last lines:\nline \d+ of .*line 5000 of many that are printed$/s);
    await walk.go();
    const block = await deliveredBlocks(walk);
    expect(block).toContain(message);
    expect(block.length).toBeLessThanOrEqual(900);
    expect(block.length).toBeGreaterThan(800);
  });

  test('returns only new output, takes input, can be stopped, and is not reported again by a notification', async () => {
    const walk = await begin([
      { calls: [background('shell', 'while read line; do echo "got $line"; done; echo over')] },
      { calls: [handle('apply', 'shell', { text: 'one' })] },
      { calls: [handle('apply', 'shell', { text: 'two\nthree\n', no_newline: true })] },
      { calls: [handle('fetch', 'shell')] },
      { calls: [handle('abort', 'shell')] },
      done,
    ]);
    await walk.go();
    const [, first = '', second = '', third = '', last = ''] = await responses(walk);
    expect(first).toMatch(/^got one\n\(shell: running for/);
    // Which call returns which line depends on the machine's speed; in total each line is returned once.
    expect(`${second}\n${third}`.match(/got \w+/g)).toEqual(['got two', 'got three']);
    expect(last).toMatch(/^shell: was stopped \(you aborted it\) after .*\nLast lines:\ngot one\ngot two\ngot three$/);
    expect(await deliveredBlocks(walk)).not.toContain('name="failed"');
    expect(walk.log.state.pending.count).toBe(0);
  });

  test('with the name of a running one is refused before approval and before anything runs', async () => {
    const twice = [background('web', 'sleep 1000'), background('web', 'sleep 1000')];
    const walk = await begin([{ calls: twice }, { calls: [background('web', 'touch third')] }, done], {
      settings: { 'approvals.mode': 'reads' },
    });
    await walk.go();
    const contents = await responses(walk);
    expect(contents.filter((content) => content.startsWith('Started as the handle “web”'))).toHaveLength(1);
    expect(contents.filter((content) => content.startsWith('handle: '))).toHaveLength(2);
    expect(contents[2]).toMatch(/^handle: there is a handle “web” already, running for .* Choose another name/);
    // The two calls of the first answer ask for approval in parallel; the third call is refused before that.
    expect(walk.headless.frontend.asked.length).toBeLessThanOrEqual(2);
    expect(await eventsOf(walk, 'handle_started')).toHaveLength(1);
  });

  test('can reuse the name of an ended one, whose end is then reported', async () => {
    const walk = await begin([
      { calls: [background('job', 'read line; exit 4')] },
      done,
      { calls: [background('job', 'sleep 1000')] },
      done,
    ]);
    const ending = nextEvent(walk, queued('failed'));
    await walk.go();
    await walk.headless.handles.list(walk.id)[0]?.write('\n');
    await ending;
    await walk.headless.earshot.withdraw({ source: 'tool', name: 'failed' }, 'handle:job', 'for the test', walk.id);
    await walk.go();
    expect((await responses(walk))[1]).toMatch(
      /Started as the handle “job”.*\n\(The earlier handle of this name ended with exit code 4 after/,
    );
  });

  test.each([
    [{ action: 'fetch' }, 'name: fetch needs the name of a handle. There are none.'],
    [{ action: 'fetch', name: 'nobody' }, 'name: there is no handle “nobody”. There are none.'],
    [{ action: 'list' }, 'There are no handles.'],
    [{ action: 'dance', name: 'x' }, /^handle was not run: action: /],
  ])('called with %j is answered so that the model can correct it', async (args, content) => {
    const walk = await begin([{ calls: [call('handle', args)] }, done]);
    await walk.go();
    expect((await responses(walk))[0]).toMatch(content);
  });

  test('without a name, or with a bad one, is not started', async () => {
    const bad = call('run_command', { command: 'touch made', background: true });
    const walk = await begin([{ calls: [bad, background('a b', 'touch made')] }, done]);
    await walk.go();
    expect((await responses(walk)).sort()).toEqual([
      'handle: a command in the background needs a name, such as build. Call it again with one.',
      'handle: “a b” is no name for a handle: use up to 40 letters, digits, dots, hyphens and underscores.',
    ]);
  });

  test('takes input only with the user’s approval, each time', async () => {
    const apply = handle('apply', 'shell', { text: 'rm -rf /' });
    const walk = await begin(
      [{ calls: [background('shell', 'cat')] }, { calls: [apply, handle('fetch', 'shell')] }, done],
      {
        settings: { 'approvals.mode': 'reads' },
      },
    );
    walk.headless.frontend.answer = async ({ call: { name } }) => ({
      action: name === 'handle' ? 'reject' : 'approve',
      by: 'user',
    });
    await walk.go();
    const asked = walk.headless.frontend.asked.filter(({ call: { name } }) => name === 'handle');
    expect(asked).toHaveLength(1);
    expect(asked[0]?.always).toBeUndefined();
    expect((await responses(walk)).filter((content) => content.includes('rejected'))).toHaveLength(1);
    expect((await responses(walk)).some((content) => content.startsWith('Nothing new was printed.'))).toBe(true);
  });
});

describe('a handle that seems to wait for input', () => {
  test('is reported once per prompt, not while it prints, and withdrawn when it continues', async () => {
    const walk = await begin([
      { calls: [background('ask', 'printf "Continue? [y/N] "; read a; printf "Sure (yes/no)? "; read b; echo ok')] },
      done,
      done,
    ]);
    await walk.go();
    const [one] = walk.headless.handles.list(walk.id);
    await one?.until(({ process }) => process.status.size > 0);
    walk.clock.advance(2900);
    expect(one?.state).toBe('running');
    const first = nextEvent(walk, queued('waiting'));
    walk.clock.advance(100);
    const event = await first;
    expect(event).toMatchObject({
      notification: {
        level: 'warning',
        message: expect.stringMatching(/“ask” .* seems to wait for input: .*\nContinue\? \[y\/N\]\n/s) as string,
      },
    });
    walk.clock.advance(60_000);
    const withdrawn = nextEvent(walk, ({ type }) => type === 'notification_withdrawn');
    const again = nextEvent(walk, queued('waiting'));
    await one?.write('y\n');
    await withdrawn;
    await one?.until(({ state, process }) => state === 'running' && process.status.size > 20);
    walk.clock.advance(6000);
    await again;
    expect(await eventsOf(walk, 'notification_queued')).toHaveLength(2);
  });

  test.each([
    ['echo "Listening on: "; sleep 1000', false],
    ['printf "50 %% done"; sleep 1000', false],
    ['printf "Password: "; sleep 1000', true],
    ['printf "> "; sleep 1000', true],
    ['printf "Overwrite (y/n)"; sleep 1000', true],
  ])('`%s` counts as waiting for input: %s', async (command, waits) => {
    const walk = await begin([{ calls: [background('x', command)] }, done]);
    await walk.go();
    const [one] = walk.headless.handles.list(walk.id);
    await one?.until(({ process }) => process.status.size > 0);
    walk.clock.advance(3000);
    if (waits) await one?.until(({ state }) => state === 'waiting');
    await one?.lastLines(10);
    expect(one?.state).toBe(waits ? 'waiting' : 'running');
  });

  test('in the foreground with open input becomes a handle', async () => {
    const asks = call('run_command', { command: 'printf "Name? "; read name; echo "Hello $name"', input: true });
    const walk = await begin([
      { calls: [asks] },
      { calls: [handle('apply', 'printf-Name-read-name-ec', { text: 'Ada' })] },
      done,
    ]);
    const shown = walk.headless.frontend.nextDrawn('tool_output');
    const turn = walk.go();
    await shown;
    walk.clock.advance(3000);
    await turn;
    const [first = '', second = ''] = await responses(walk);
    expect(first).toMatch(
      /^Name\?\n\(It was moved to the background: it goes on as the handle “printf-Name-read-name-ec”, .*seems to wait for input at: Name\?/,
    );
    expect(second).toMatch(/^Hello Ada\n/);
    expect(await deliveredBlocks(walk)).toBe('');
  });
});

describe('a command in the foreground', () => {
  test('returns the output of both streams without terminal control sequences, and the exit code', async () => {
    const command = `printf '\\033[31mred\\033[0m\\n'; echo err >&2; printf '10%%\\r20%%\\r100%%\\n'; exit 3`;
    const walk = await begin([{ calls: [call('run_command', { command })] }, done]);
    await walk.go();
    const [content = ''] = await responses(walk);
    expect(content.split('\n').sort()).toEqual(['(exit code 3)', '100%', 'err', 'red']);
  });

  test('moved to the background by the user returns what it has printed', async () => {
    const walk = await begin([
      { calls: [call('run_command', { command: 'echo working; read x; sleep 1000', input: true })] },
      done,
    ]);
    const shown = walk.headless.frontend.nextDrawn('tool_output');
    const turn = walk.go();
    await shown;
    const id = lastCall();
    expect(walk.headless.handles.moveToBackground(walk.id, id)).toBe(true);
    await turn;
    expect((await responses(walk))[0]).toMatch(
      /^working\n\(The user moved it to the background: it goes on as the handle “echo-working-read-x-slee”, running/,
    );
    expect(walk.headless.handles.hasRunning(walk.id)).toBe(true);
    expect(walk.headless.handles.moveToBackground(walk.id, id)).toBe(false);
  });

  test('that exceeds its time limit is stopped, and the result says so', async () => {
    const limit = replaceTimeout(77_000);
    const slow = call('run_command', { command: 'echo early; sleep 1000', timeout_secs: 77 });
    const walk = await begin([{ calls: [slow] }, done]);
    const shown = walk.headless.frontend.nextDrawn('tool_output');
    await Promise.all([walk.go(), shown.then(() => limit.abort())]);
    expect((await responses(walk))[0]).toBe('early\n(stopped: it ran longer than 77 s)');
  });

  test('that prints 100 MB returns the beginning and the end, and the rest in pages', async () => {
    const command = 'echo first; head -c 104857600 /dev/zero | tr "\\0" "x" | fold -w 1000; echo last';
    const walk = await begin([
      { calls: [call('run_command', { command })] },
      { calls: [handle('fetch', 'echo-first-head-c-104857', { from: 50_000_000 })] },
      done,
    ]);
    await walk.go();
    const [content = '', page = ''] = await responses(walk);
    expect(content.length).toBeLessThan(30_000);
    expect(content).toMatch(/^first\nx{1000}\n/);
    expect(content).toMatch(
      /… \(left out here\) …\n.*x\n?last\n\(1049\d+ bytes in all: handle fetch echo-first-head-c-104857 with from .*\)\n\(exit code 0\)$/s,
    );
    expect(page).toMatch(/\(It goes on: from 50\d+; 1049\d+ bytes in all\.\)/);
    expect(page.length).toBeLessThan(30_000);
    expect(await deliveredBlocks(walk)).toBe('');
  });

  test('that leaves a process running ends it, and the result says so', async () => {
    const walk = await begin([{ calls: [call('run_command', { command: 'sleep 1000 & echo started' })] }, done]);
    await walk.go();
    expect((await responses(walk))[0]).toBe(
      'started\n(What it had left running in the background was ended. Use background for that.)\n(exit code 0)',
    );
  });
});

test.runIf(process.platform === 'linux')('a command that leaves a daemon names it in its result', async () => {
  const command = '(setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid); echo started';
  const walk = await begin([{ calls: [call('run_command', { command })] }, done]);
  await walk.go();
  const pid = Number(await readFile(join(walk.headless.folder, 'pid'), 'utf8'));
  process.kill(pid, 'SIGKILL');
  expect((await responses(walk))[0]).toBe(
    `started\n(Note: what it started in a session of its own runs on: sleep (pid ${pid}).)\n(exit code 0)`,
  );
});

describe('background commands at the end of the turn', () => {
  test('keep running by default', async () => {
    const walk = await begin([{ calls: [background('web', 'sleep 1000')] }, done]);
    await walk.go();
    expect(walk.headless.handles.hasRunning(walk.id)).toBe(true);
  });

  test('are stopped if configured; the next request reports it, and the model is not woken', async () => {
    const walk = await begin([{ calls: [background('web', 'sleep 1000')] }, done, done], {
      settings: { 'handles.afterTurn': 'stop', 'notifications.activation': 'wake' },
    });
    const ending = nextEvent(walk, queued('failed'));
    await walk.go();
    expect(walk.headless.handles.hasRunning(walk.id)).toBe(false);
    await ending;
    await walk.go('And?');
    expect(await deliveredBlocks(walk)).toContain('was stopped (its turn ended)');
    expect((await eventsOf(walk, 'turn_started')).map(({ source }) => source)).toEqual(['user', 'user']);
  });

  test('are awaited if configured, and the turn continues with their end', async () => {
    const walk = await begin(
      [{ calls: [background('build', 'read line; echo built')] }, done, { text: ['It is built.'] }],
      { settings: { 'handles.afterTurn': 'wait' } },
    );
    const answered = nextEvent(walk, (event) => event.type === 'chat_response');
    const turn = walk.go();
    await answered;
    await walk.headless.handles.list(walk.id)[0]?.write('\n');
    await turn;
    expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['done']);
    expect((await eventsOf(walk, 'chat_response')).map(({ message }) => message)).toEqual(['Done.', 'It is built.']);
    expect((await deliveredBlocks(walk)).match(/ended with exit code 0/g)).toHaveLength(1);
  });

  test('that are awaited do not prevent stopping the turn', async () => {
    const walk = await begin([{ calls: [background('build', 'sleep 1000')] }, done], {
      settings: { 'handles.afterTurn': 'wait' },
    });
    const answered = nextEvent(walk, (event) => event.type === 'chat_response');
    const turn = walk.go();
    await answered;
    await walk.headless.earshot.stop(walk.id);
    await turn;
    expect((await eventsOf(walk, 'turn_ended')).map(({ outcome }) => outcome)).toEqual(['stopped']);
  });
});
