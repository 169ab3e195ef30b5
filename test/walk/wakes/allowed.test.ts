// Who allows wake_when and what is due, and ends it: approvals, front ends, a stopped conversation.
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';
import { call, done, eventsOf } from '../../support/walk/handleWalks.ts';
import { openClients } from '../../support/walk/walkedPage.ts';
import { beginWake, HOUR, MINUTE, nextFire, untilAsked, wakeWhen } from '../../support/walk/wakeWalks.ts';

const body = (walk: Awaited<ReturnType<typeof beginWake>>, number: number) => walk.server.requests[number]?.body ?? '';

test('the approval names source, number and end, and is an event; without it nothing is set', async () => {
  const answers = () => [{ calls: [wakeWhen('ready', { when: { notify: 'x' }, or_after: '2h' })] }, done];
  const walk = await beginWake(answers(), { settings: { 'approvals.mode': 'reads' } });
  await walk.go();
  expect(walk.headless.frontend.asked).toMatchObject([
    { reason: 'it may start turns without you, at most 1 within 2h.', note: '“ready”, line of the script “x”' },
  ]);
  // An answer for all later calls would grant wakes whose source, number and end nobody has seen.
  expect(walk.headless.frontend.asked[0]?.always).toBeUndefined();
  const [granted] = await eventsOf(walk, 'wake_granted');
  expect(granted).toMatchObject({ source: 'condition', name: 'ready', most: 1, by: 'user' });
  expect(Date.parse(granted?.until ?? '')).toBe(walk.clock.now() + 2 * HOUR);
  const refused = await beginWake(answers(), { settings: { 'approvals.mode': 'reads' } });
  refused.headless.frontend.answer = async () => ({ action: 'reject', by: 'user' });
  await refused.go();
  expect(refused.log.state.wakes.count).toBe(0);
});

test('every front end can fire what is due and end what the model waits for, with its standing wake', async () => {
  const tail = [{ path: 'app.log', notify_on: ['error'], wake: true }];
  const walk = await beginWake([
    { calls: [wakeWhen('t', { when: { after: '5m' } }), call('watch', { tail })] },
    done,
    { text: ['Fired.'] },
  ]);
  await walk.go();
  const client = openClients(walk.headless).as({ by: 'plugin:x' });
  atTestEnd(async () => client.dispose());
  const conversation = walk.id;
  const listed = async () => {
    const due = await client.call('list_due', { conversation });
    return due.ok ? due.value.data.map(({ what, name }) => `${what} ${name}`) : due.failure.message;
  };
  expect(await listed()).toEqual(['wake t', 'lines file:app.log']);
  expect(await client.call('fire_due', { conversation, name: 't' })).toEqual({ ok: true, value: {} });
  await untilAsked(walk, 3);
  expect(body(walk, 2)).toContain('The user had it fired now.');
  expect(walk.log.state.lines.mayWake).toBe(true);
  expect(await client.call('cancel_due', { conversation, what: 'lines', name: 'file:app.log' })).toEqual({
    ...{ ok: true, value: {} },
  });
  expect(await listed()).toEqual([]);
  const [granted] = (await eventsOf(walk, 'wake_granted')).filter(({ source }) => source === 'lines');
  expect((await eventsOf(walk, 'wake_revoked')).map(({ id }) => id)).toEqual([granted?.id]);
  await expect.poll(() => walk.headless.ports.store.due.list()).toEqual([]);
  expect(await client.call('cancel_due', { conversation, what: 'wake', name: 't' })).toMatchObject({
    failure: { code: 'not_set' },
  });
});

test('a stopped conversation holds a due timer until the user writes', async () => {
  const walk = await beginWake([
    { calls: [wakeWhen('t', { when: { after: '5m' } })] },
    done,
    { text: ['I'], hang: true },
    done,
  ]);
  await walk.go();
  const sent = walk.headless.earshot.send(walk.id, 'More.');
  await walk.headless.frontend.nextDrawn('answer_text');
  await sent;
  await walk.headless.earshot.stop(walk.id);
  const fired = nextFire(walk);
  walk.clock.advance(5 * MINUTE);
  await fired;
  expect(walk.headless.earshot.get(walk.id)).toMatchObject({ running: false, heldBack: 'stopped' });
  await walk.go('Go on.');
  expect(body(walk, 3)).toContain('The timer “t”');
});

test('what cannot be awaited is refused without asking the user, with a sentence for people', async () => {
  const calls = [
    wakeWhen('deploy', {
      when: {
        all: [
          { handle: 'build', is: 'ok' },
          { port: 3000, is: 'open' },
        ],
      },
    }),
    wakeWhen('checked', { when: { task: 'check', is: 'ok' } }),
  ];
  const walk = await beginWake([{ calls }, done], { settings: { 'approvals.mode': 'ask' } });
  await walk.go();
  expect(walk.headless.frontend.asked).toEqual([]);
  const codes = (await eventsOf(walk, 'tool_call_response')).map(({ failure }) => failure);
  expect(codes).toEqual(['no_handle', 'not_followed']);
});
