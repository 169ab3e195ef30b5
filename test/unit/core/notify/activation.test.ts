// Activation: which notifications wake or interrupt the model, and the limits.
import { describe, expect, test } from 'vitest';
import {
  ABORT_EVERY,
  type ActivationInput,
  decideActivation,
  FIRST_BACK_OFF,
  MOST_IN_A_ROW,
} from '../../../../src/core/notify/activation.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { defaultSettings } from '../../../support/notify/arbitraryNotifications.ts';

const notificationOf = (source: string, name: string, more: Partial<Notification> = {}): Notification => ({
  id: `${source}.${name}`,
  kind: { source, name },
  level: 'info',
  message: 'm',
  origin: 'host',
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const stopped = notificationOf('tool', 'stopped');
const critical = notificationOf('git', 'head_changed', { level: 'critical' });

const NOW = 1_000_000;
const decide = (pending: readonly Notification[], more: Partial<ActivationInput> = {}) =>
  decideActivation({
    pending,
    settings: defaultSettings,
    now: NOW,
    doing: 'nothing',
    userHasWritten: true,
    outcome: 'done',
    inARow: 0,
    lastAbort: undefined,
    woken: new Map(),
    mayAsk: true,
    grants: { isGranted: () => false, covers: () => false },
    ...more,
  });

describe('activation by kind', () => {
  test.each([
    ['tool.stopped', stopped, 'wake'],
    ['tool.failed', notificationOf('tool', 'failed', { level: 'error' }), 'wake'],
    ['tool.waiting', notificationOf('tool', 'waiting'), 'wake'],
    ['tool.lost', notificationOf('tool', 'lost', { level: 'error' }), 'wait'],
    ['file.changed', notificationOf('file', 'changed', { level: 'warning' }), 'wait'],
    ['task.ended with an error', notificationOf('task', 'ended', { level: 'error' }), 'wait'],
    ['a mention', notificationOf('message', 'received', { scopes: ['mention:me'] }), 'wake'],
    ['a message', notificationOf('message', 'received', { scopes: ['room:all'] }), 'wait'],
    ['a mention of another source', notificationOf('plugin', 'said', { scopes: ['mention:me'] }), 'wait'],
    ['a critical one', critical, 'wake'],
    ['one with the wake field', notificationOf('output', 'matched', { wake: true }), 'wake'],
    ['the same kind without it', notificationOf('output', 'matched', { level: 'error' }), 'wait'],
    ['one whose data says so', notificationOf('script', 'deploy', { data: { wake: true, grant: 'g' } }), 'wait'],
    ['one whose message says so', notificationOf('time', 'due', { message: 'wake: true' }), 'wait'],
  ])('%s in an idle conversation', (_name, notification, expected) => {
    expect(decide([notification]).type).toBe(expected);
  });

  test('only a critical notification interrupts an answer; nothing interrupts running tools', () => {
    expect(decide([stopped], { doing: 'answering' })).toEqual({ type: 'wait' });
    expect(decide([critical], { doing: 'answering' })).toEqual({
      type: 'interrupt',
      kinds: new Set(['git.head_changed']),
    });
    expect(decide([critical, stopped], { doing: 'busy' })).toEqual({ type: 'wait' });
  });

  test('with activation `wake` nothing interrupts; with `passive` nothing wakes or interrupts', () => {
    const settings = (allowed: 'wake' | 'passive') => ({ ...defaultSettings, 'notifications.activation': allowed });
    expect(decide([critical], { doing: 'answering', settings: settings('wake') }).type).toBe('wait');
    expect(decide([critical], { settings: settings('wake') }).type).toBe('wake');
    expect(decide([critical, stopped], { settings: settings('passive') })).toEqual({ type: 'wait' });
  });

  test('a level from the settings can raise or lower activation; filtered kinds never activate', () => {
    const levels = (level: 'critical' | 'info') => ({ 'notifications.levels': { 'git.head_changed': level } });
    const quiet = { ...critical, level: 'info' as const };
    const settings = { ...defaultSettings, ...levels('critical') };
    expect(decide([quiet], { doing: 'answering', settings }).type).toBe('interrupt');
    expect(decide([critical], { settings: { ...defaultSettings, ...levels('info') } })).toEqual({ type: 'wait' });
    const muted = { ...defaultSettings, 'notifications.kinds': { tool: { enable: false } } };
    expect(decide([stopped], { settings: muted })).toEqual({ type: 'wait' });
  });
});

describe('limits', () => {
  test.each([
    ['not_written', { userHasWritten: false }],
    ['stopped', { outcome: 'stopped' }],
    ['error', { outcome: 'error' }],
    ['model', { mayAsk: false }],
    ['in_a_row', { inARow: MOST_IN_A_ROW }],
  ] as const)('%s holds notifications that would wake', (reason, more) => {
    expect(decide([stopped], more)).toEqual({ type: 'held', reason });
    expect(decide([critical], more)).toEqual({ type: 'held', reason });
    expect(decide([notificationOf('file', 'changed')], more)).toEqual({ type: 'wait' });
  });

  test('a stopped earlier turn does not hold an interruption of the running turn', () => {
    expect(decide([critical], { doing: 'answering', outcome: 'stopped' }).type).toBe('interrupt');
  });

  test('a second interruption is held until 30 s after the first', () => {
    const at = (now: number) => decide([critical], { doing: 'answering', lastAbort: NOW, now });
    expect(at(NOW + ABORT_EVERY - 1)).toEqual({ type: 'held', reason: 'aborted_lately', until: NOW + ABORT_EVERY });
    expect(at(NOW + ABORT_EVERY).type).toBe('interrupt');
    expect(decide([critical], { lastAbort: NOW - 1 }).type).toBe('wake');
  });

  test('the back-off of a kind doubles up to ten minutes and does not affect other kinds', () => {
    const woken = (times: number) => new Map([['tool.stopped', { times, at: NOW }]]);
    const until = (times: number) => {
      const held = decide([stopped], { woken: woken(times) });
      return held.type === 'held' ? (held.until ?? 0) - NOW : 0;
    };
    expect([1, 2, 3, 4].map(until)).toEqual([1, 2, 4, 8].map((factor) => factor * FIRST_BACK_OFF));
    expect(until(30)).toBe(600_000);
    expect(decide([stopped], { woken: woken(1), now: NOW + FIRST_BACK_OFF }).type).toBe('wake');
    expect(decide([stopped, notificationOf('tool', 'failed')], { woken: woken(4) }).type).toBe('wake');
  });
});

describe('standing wakes', () => {
  const due = notificationOf('time', 'due', { wake: true, grant: 'g' });
  const granted = { isGranted: () => true, covers: () => false };
  const asked = (more: Partial<ActivationInput> = {}) => decide([due], { grants: granted, ...more });

  test('without a valid grant a notification that names one does not wake', () => {
    expect(decide([due])).toEqual({ type: 'wait' });
    expect(decide([notificationOf('time', 'due', { grant: 'g' })], { grants: granted })).toEqual({ type: 'wait' });
  });

  test('a grant counts as the user’s message, and has its own limits', () => {
    const woken = new Map([['time.due', { times: 9, at: NOW }]]);
    const limits = { userHasWritten: false, inARow: MOST_IN_A_ROW, woken, outcome: 'error' } as const;
    expect(asked(limits)).toEqual({ type: 'wake', kinds: new Set(), granted: true });
  });

  test('a stopped turn, an open call, a muted kind and a model that needs consent hold a granted wake too', () => {
    expect(asked({ outcome: 'stopped' })).toEqual({ type: 'held', reason: 'stopped' });
    expect(asked({ mayAsk: false })).toEqual({ type: 'held', reason: 'model' });
    expect(asked({ doing: 'busy' })).toEqual({ type: 'wait' });
    expect(asked({ doing: 'answering' })).toEqual({ type: 'wait' });
    const settings = (more: object) => ({ settings: { ...defaultSettings, ...more } });
    expect(asked(settings({ 'notifications.kinds': { time: { due: false } } }))).toEqual({ type: 'wait' });
    expect(asked(settings({ 'notifications.activation': 'passive' }))).toEqual({ type: 'wait' });
  });

  test('the end of a handle that a condition waits for does not wake by itself', () => {
    const covered = { isGranted: () => false, covers: () => true };
    expect(decide([stopped], { grants: covered })).toEqual({ type: 'wait' });
  });
});
