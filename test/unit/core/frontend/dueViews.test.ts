// What is due as pages and programs list it: timers, conditions, lines and events, from the log of a conversation.
import { expect, test } from 'vitest';
import { EventStates } from '../../../../src/core/conversation/events/eventStates.ts';
import { LineWatches } from '../../../../src/core/conversation/lines/lineWatches.ts';
import { WakeStates } from '../../../../src/core/conversation/wakes.ts';
import { viewDue } from '../../../../src/core/frontend/dueViews.ts';
import { type EventDraft } from '../../../../src/protocol/event.ts';
import { type Condition } from '../../../../src/protocol/wakes.ts';

const at = (seconds: number) => new Date(seconds * 1000).toISOString();
const when: Condition = {
  any: [
    { port: 3000, is: 'open' },
    { output: 'server', has: 'listening' },
  ],
};

function stateOf(...drafts: readonly EventDraft[]) {
  const state = { wakes: new WakeStates(), lines: new LineWatches(), events: new EventStates() };
  for (const [index, draft] of drafts.entries()) {
    const event = { v: 1, seq: index + 1, event_id: `e${index}`, timestamp: at(0), ...draft } as const;
    for (const one of Object.values(state)) one.fold(event);
  }
  return state;
}

const granted = (id: string, source: string, most: number, until = at(60)): EventDraft => ({
  ...{ type: 'wake_granted', id, source, name: id, most, until, tool_call_id: 'c', by: 'user' },
});
const set = (name: string, more: object): EventDraft => ({
  ...{ type: 'wake_set', name, note: '', grant: name, until: at(60), ...more },
});

test('the soonest is first; a timer has no condition, a repeated one says how often it is due at most', () => {
  const fired = { kind: { source: 'time', name: 'due' }, level: 'info', message: 'x', origin: 'host' } as const;
  const state = stateOf(
    granted('condition', 'condition', 1),
    set('condition', { when: { ...when } }),
    granted('repeated', 'timer', 2),
    set('repeated', { every: 10_000 }),
    {
      type: 'notification_queued',
      notification: { id: 'n', ...fired, at: at(40), wake: true, grant: 'repeated', data: { wake: 'repeated' } },
    },
    granted('alarm', 'timer', 1),
    set('alarm', { when: { at: at(20) }, until: at(20) }),
  );
  const wake = { what: 'wake', note: '', facts: [] };
  expect(viewDue(state)).toEqual([
    { ...wake, name: 'alarm', timer: true, next: at(20) },
    { ...wake, name: 'repeated', timer: true, next: at(50), left: 1 },
    { ...wake, name: 'condition', timer: false, next: at(60), when },
  ]);
});

test('of long evidence the page gets the beginning of the first line', () => {
  const facts = [
    { truth: 'no' as const, evidence: 'nothing listens' },
    { truth: 'yes' as const, evidence: `${'x'.repeat(400)}\nsecond line`, latches: true as const },
  ];
  const state = stateOf(granted('w', 'condition', 1), set('w', { when: { ...when } }));
  const [wake] = state.wakes.all;
  const [view] = viewDue(state, wake === undefined ? [] : [{ wake, next: 1, facts }]);
  expect(view).toMatchObject({ facts: [facts[0], { truth: 'yes', evidence: 'x'.repeat(300) }] });
});

test('lines and events say what they wait for, how often they may still wake the model and until when', () => {
  const position = { through: 0 };
  const subscribed = { type: 'events_subscribed', server: 's', identity: 'i', mode: 'push' } as const;
  const state = stateOf(
    granted('g', 'lines', 20, at(100)),
    { type: 'lines_watched', target: 'file:logs/app.log', patterns: ['error', '/^5\\d\\d/'], position, grant: 'g' },
    { type: 'lines_watched', target: 'handle:server', patterns: ['ready'], quiet_after_secs: 60, position },
    granted('h', 'events', 50, at(200)),
    { ...subscribed, name: 's/issue', event: 'issue', grant: 'h' },
    { ...subscribed, name: 's/push', event: 'push' },
  );
  expect(viewDue(state)).toEqual([
    {
      ...{ what: 'lines', name: 'file:logs/app.log', title: 'logs/app.log', waitsFor: ['error', '/^5\\d\\d/'] },
      wakes: { left: 20, until: at(100) },
    },
    { what: 'lines', name: 'handle:server', title: 'server', waitsFor: ['ready'], quiet: 60 },
    { what: 'events', name: 's/issue', title: 's/issue', waitsFor: [], wakes: { left: 50, until: at(200) } },
    { what: 'events', name: 's/push', title: 's/push', waitsFor: [] },
  ]);
});
