// When the end of a handle or a mention wakes the model, and when it must not.
import { expect, test } from 'vitest';
import { FIRST_BACK_OFF } from '../../../src/core/notify/activation.ts';
import { type Model } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';
import {
  begin,
  callOutcomes,
  done,
  eventsOf,
  handleEnded,
  headChanged,
  nextEvent,
  occurrences,
  publish,
  streamed,
} from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const golden = (name: string) => `./golden/${name}.golden.txt`;
const live = ({ headless, id }: Walked) => headless.earshot.get(id);
const sources = async (walk: Walked) => (await eventsOf(walk, 'turn_started')).map(({ source }) => source);

test('the end of the conversation’s own handle while idle starts one system turn', async () => {
  const walk = await beginWalk([done, { text: ['The build is done.'] }]);
  await walk.go();
  const ended = nextEvent(walk.log, 'turn_ended');
  await publish(walk, handleEnded(walk, 'build'));
  await ended;
  await walk.headless.earshot.settled(walk.id);
  expect(walk.server.requests).toHaveLength(2);
  await walk.golden(golden('wake-handle-ended'));
});

test('after a stopped system turn nothing wakes the model', async () => {
  const walk = await beginWalk([done, { text: ['The build'], hang: true }]);
  await walk.go();
  await publish(walk, handleEnded(walk, 'build'));
  await streamed(walk, 'The build');
  await walk.headless.earshot.stop(walk.id);
  await publish(walk, handleEnded(walk, 'tests', 'failed'));
  expect(live(walk)).toMatchObject({ running: false, heldBack: 'stopped' });
  expect(await sources(walk)).toEqual(['user', 'system']);
  await walk.golden(golden('wake-stopped'));
});

test('a mention wakes the model, another message does not', async () => {
  const walk = await beginWalk([done, done]);
  const { earshot } = walk.headless;
  const held = [{ mention: 'earshot' }, { scope: 'room:all' }].map((one) => earshot.subscribe(walk.id, one));
  await walk.go();
  const message = (text: string, scope: string) =>
    headChanged(text, { kind: { source: 'message', name: 'received' }, origin: 'agent', scopes: [scope] });
  await publish(walk, message('to all', 'room:all'));
  expect(live(walk)).toMatchObject({ running: false });
  await publish(walk, message('@earshot look', 'mention:earshot'));
  await earshot.settled(walk.id);
  for (const one of held) one.dispose();
  expect(await sources(walk)).toEqual(['user', 'system']);
  expect([occurrences(walk, 1, 'to all'), occurrences(walk, 1, '@earshot look')]).toEqual([1, 1]);
  await walk.golden(golden('wake-mention'));
});

test('after a stop or an error nothing wakes the model; it is delivered with the next request', async () => {
  const walk = await beginWalk([{ text: ['I'], hang: true }, { refuse: { status: 401, message: 'no' } }, done]);
  const { earshot } = walk.headless;
  await begin(walk);
  await streamed(walk);
  await earshot.stop(walk.id);
  await publish(walk, handleEnded(walk, 'one'));
  expect(live(walk)).toMatchObject({ running: false, heldBack: 'stopped' });
  await walk.go('Again.');
  await publish(walk, handleEnded(walk, 'two'));
  expect(live(walk)).toMatchObject({ running: false, heldBack: 'error' });
  walk.clock.advance(3_600_000);
  expect(walk.server.requests).toHaveLength(2);
  await walk.go('Once more.');
  expect(live(walk)?.heldBack).toBeUndefined();
  expect([occurrences(walk, 2, 'one stopped.'), occurrences(walk, 2, 'two stopped.')]).toEqual([1, 1]);
  await walk.golden(golden('wake-after-stop-and-error'));
});

test('before the user’s first message in this window nothing wakes the model, even after a turn of another window', async () => {
  const walk = await beginWalk([done, done]);
  await publish(walk, handleEnded(walk, 'early'));
  expect(live(walk)).toMatchObject({ running: false, heldBack: 'not_written' });
  await walk.go();
  const next = await walk.headless.restart();
  try {
    const opened = await next.earshot.open(walk.id);
    if (!opened.ok) throw new Error(opened.failure.message);
    await next.earshot.publish(handleEnded(walk, 'late', 'failed'));
    expect(next.earshot.get(walk.id)).toMatchObject({ running: false, heldBack: 'not_written' });
    await next.earshot.send(walk.id, 'Here I am.');
    await next.earshot.settled(walk.id);
    expect(occurrences(walk, 1, 'late failed.')).toBe(1);
    await walk.golden(golden('wake-not-written'), { headless: next });
  } finally {
    await next.earshot.shutDown();
  }
});

test('a notification turned off, muted or filtered stays pending without a notice', async () => {
  const off = [
    { 'notifications.activation': 'passive' },
    { 'notifications.enable': false },
    { 'notifications.kinds': { tool: { stopped: false } } },
  ];
  for (const [index, settings] of off.entries()) {
    const walk = await beginWalk([done], { settings });
    await walk.go();
    await publish(walk, handleEnded(walk, 'build'));
    expect(live(walk)?.running).toBe(false);
    expect(live(walk)?.heldBack).toBeUndefined();
    expect(walk.log.state.pending.count).toBe(1);
    await walk.golden(golden(`wake-${['passive', 'muted', 'filtered'][index]}`));
  }
});

test('with the setting `wake`, a critical notification wakes but does not interrupt', async () => {
  const settings = { 'notifications.activation': 'wake', 'notifications.levels': { 'git.head_changed': 'critical' } };
  const walk = await beginWalk([{ text: ['I'], hang: true }, done], { settings });
  await begin(walk);
  await streamed(walk);
  await publish(walk, headChanged('switched to main'));
  walk.server.release();
  await walk.headless.earshot.settled(walk.id);
  expect(await callOutcomes(walk)).toEqual(['succeeded', 'succeeded']);
  expect(await sources(walk)).toEqual(['user', 'system']);
  await walk.golden(golden('wake-critical'));
});

test('repeated wakes of one kind are delayed longer each time; another kind is not affected', async () => {
  const walk = await beginWalk([done, done, done, done, done]);
  const { earshot } = walk.headless;
  await walk.go();
  const wakes = async (name: string, how: 'stopped' | 'failed' = 'stopped') => {
    await publish(walk, handleEnded(walk, name, how));
    const woken = live(walk)?.running === true;
    await earshot.settled(walk.id);
    return woken;
  };
  expect(await wakes('one')).toBe(true);
  expect(await wakes('two')).toBe(false);
  expect(live(walk)?.heldBack).toBe('woken_lately');
  walk.clock.advance(FIRST_BACK_OFF - 1);
  expect(live(walk)?.running).toBe(false);
  walk.clock.advance(1);
  expect(live(walk)?.running).toBe(true);
  await earshot.settled(walk.id);
  expect(await wakes('three')).toBe(false);
  walk.clock.advance(FIRST_BACK_OFF);
  expect(live(walk)?.running).toBe(false);
  expect(await wakes('four', 'failed')).toBe(true);
  expect(walk.log.state.pending.count).toBe(0);
  await walk.golden(golden('wake-repeated'));
});

test('if the model must not run without the user, the notification is held with a visible reason until the user acts', async () => {
  const server = await startScriptedServer(done, done, done);
  let allowed = false;
  const model: Model = {
    ...createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined }),
    mayRunUnasked: () => allowed,
  };
  const walk = await beginWalk([], { ports: { model: () => model } });
  const { earshot } = walk.headless;
  try {
    await walk.go();
    await publish(walk, handleEnded(walk, 'build'));
    expect(live(walk)).toMatchObject({ running: false, heldBack: 'model' });
    await earshot.deliverNow(walk.id);
    await earshot.settled(walk.id);
    expect(server.requests).toHaveLength(2);
    await publish(walk, handleEnded(walk, 'tests'));
    allowed = true;
    earshot.reconsider();
    await earshot.settled(walk.id);
    expect(server.requests).toHaveLength(3);
    await walk.golden(golden('wake-not-allowed-by-model'), { requests: server.requests });
  } finally {
    await server.stop();
  }
});
