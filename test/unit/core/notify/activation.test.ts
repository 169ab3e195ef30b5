// Which notifications wake or interrupt the model, and every limit, as one table.
import { describe, expect, test } from 'vitest';
import {
  ABORT_EVERY,
  type ActivationInput,
  decideActivation,
  FIRST_BACK_OFF,
  MOST_IN_A_ROW,
} from '../../../../src/core/notify/activation.ts';
import { type Notification } from '../../../../src/protocol/notification.ts';
import { defaultSettings } from '../../../support/arbitraryNotifications.ts';

const of = (source: string, name: string, more: Partial<Notification> = {}): Notification => ({
  id: `${source}.${name}`,
  kind: { source, name },
  level: 'info',
  message: 'm',
  origin: 'host',
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});
const stopped = of('tool', 'stopped');
const critical = of('git', 'head_changed', { level: 'critical' });

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
    ...more,
  });

describe('by kind', () => {
  test.each([
    ['tool.stopped', stopped, 'wake'],
    ['tool.failed', of('tool', 'failed', { level: 'error' }), 'wake'],
    ['tool.waiting', of('tool', 'waiting'), 'wake'],
    ['tool.lost', of('tool', 'lost', { level: 'error' }), 'wait'],
    ['file.changed', of('file', 'changed', { level: 'warning' }), 'wait'],
    ['task.ended with an error', of('task', 'ended', { level: 'error' }), 'wait'],
    ['a mention', of('message', 'received', { scopes: ['mention:me'] }), 'wake'],
    ['a message', of('message', 'received', { scopes: ['room:all'] }), 'wait'],
    ['a mention of another source', of('plugin', 'said', { scopes: ['mention:me'] }), 'wait'],
    ['a critical one', critical, 'wake'],
  ])('%s, idle', (_name, notification, expected) => {
    expect(decide([notification]).type).toBe(expected);
  });

  test('only critical notifications interrupt an answer; nothing interrupts tools', () => {
    expect(decide([stopped], { doing: 'answering' })).toEqual({ type: 'wait' });
    expect(decide([critical], { doing: 'answering' })).toEqual({
      type: 'interrupt',
      kinds: new Set(['git.head_changed']),
    });
    expect(decide([critical, stopped], { doing: 'busy' })).toEqual({ type: 'wait' });
  });

  test('`wake` never interrupts, `passive` neither wakes nor interrupts', () => {
    const settings = (allowed: 'wake' | 'passive') => ({ ...defaultSettings, 'notifications.activation': allowed });
    expect(decide([critical], { doing: 'answering', settings: settings('wake') }).type).toBe('wait');
    expect(decide([critical], { settings: settings('wake') }).type).toBe('wake');
    expect(decide([critical, stopped], { settings: settings('passive') })).toEqual({ type: 'wait' });
  });

  test('a level from the settings raises and lowers; filtered notifications do nothing', () => {
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
  ] as const)('%s holds what would wake, until the user does something', (reason, more) => {
    expect(decide([stopped], more)).toEqual({ type: 'held', reason });
    expect(decide([critical], more)).toEqual({ type: 'held', reason });
    expect(decide([of('file', 'changed')], more)).toEqual({ type: 'wait' });
  });

  test('during the user’s own turn, the outcome of the one before does not hold', () => {
    expect(decide([critical], { doing: 'answering', outcome: 'stopped' }).type).toBe('interrupt');
  });

  test('an answer is interrupted at most once in 30 s', () => {
    const at = (now: number) => decide([critical], { doing: 'answering', lastAbort: NOW, now });
    expect(at(NOW + ABORT_EVERY - 1)).toEqual({ type: 'held', reason: 'aborted_lately', until: NOW + ABORT_EVERY });
    expect(at(NOW + ABORT_EVERY).type).toBe('interrupt');
    expect(decide([critical], { lastAbort: NOW - 1 }).type).toBe('wake');
  });

  test('each kind waits twice as long as before, up to ten minutes; other kinds do not wait', () => {
    const woken = (times: number) => new Map([['tool.stopped', { times, at: NOW }]]);
    const until = (times: number) => {
      const held = decide([stopped], { woken: woken(times) });
      return held.type === 'held' ? (held.until ?? 0) - NOW : 0;
    };
    expect([1, 2, 3, 4].map(until)).toEqual([1, 2, 4, 8].map((factor) => factor * FIRST_BACK_OFF));
    expect(until(30)).toBe(600_000);
    expect(decide([stopped], { woken: woken(1), now: NOW + FIRST_BACK_OFF }).type).toBe('wake');
    expect(decide([stopped, of('tool', 'failed')], { woken: woken(4) }).type).toBe('wake');
  });
});
