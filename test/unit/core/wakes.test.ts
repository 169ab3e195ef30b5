// Conditions with a restart at every event: the log alone gives the same fire, at the same event, as a naive evaluation.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atomsOf, evaluate } from '../../../src/core/conversation/conditions.ts';
import { WakeStates } from '../../../src/core/conversation/wakes.ts';
import { type EventDraft, type LogEvent } from '../../../src/protocol/event.ts';
import { type Condition } from '../../../src/protocol/wakes.ts';

const KINDS = ['a', 'b', 'c', 'd'] as const;
const atom = fc.constantFrom(...KINDS).map((notify): Condition => ({ notify }));
const tree = fc.letrec<{ part: Condition }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2 },
    atom,
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
  ),
})).part;

const AT = '2026-01-01T00:00:00.000Z';
const draft = (name: string, more: object = {}) => ({
  ...{ id: name, kind: { source: 'script', name }, level: 'info' as const, message: name },
  ...{ origin: 'plugin' as const, at: AT, ...more },
});

/** Whether the condition holds for these names, without the projection. */
function holds(condition: Condition, heard: ReadonlySet<string>): boolean {
  if ('all' in condition) return condition.all.every((one) => holds(one, heard));
  if ('any' in condition) return condition.any.some((one) => holds(one, heard));
  return 'notify' in condition && heard.has(condition.notify);
}

test('a condition fires once, at the event at which a naive evaluator says so, with a restart at every event', () => {
  fc.assert(
    fc.property(tree, fc.array(fc.constantFrom(...KINDS), { maxLength: 12 }), (condition, names) => {
      const log: LogEvent[] = [];
      const append = (event: EventDraft) =>
        log.push({ v: 1, seq: log.length + 1, event_id: String(log.length), timestamp: AT, ...event });
      /** A new process knows only the log. */
      const restart = () => {
        const states = new WakeStates();
        for (const event of log) states.fold(event);
        return states;
      };
      append({
        type: 'wake_granted',
        id: 'g',
        source: 'condition',
        name: 'w',
        most: 1,
        until: AT,
        tool_call_id: 'c',
        by: 'user',
      });
      append({ type: 'wake_set', name: 'w', when: { ...condition }, until: AT, note: '', grant: 'g' });
      const heard = new Set<string>();
      const fired: number[] = [];
      let expected: number | undefined;
      for (const [index, name] of names.entries()) {
        append({ type: 'notification_queued', notification: draft(name) });
        heard.add(name);
        if (expected === undefined && holds(condition, heard)) expected = index;
        const states = restart();
        const wake = states.get('w');
        if (wake?.when === undefined) continue;
        const truths = atomsOf(wake.when).map((_, number) => (wake.latched.has(number) ? 'yes' : 'no'));
        if (evaluate(wake.when, truths) !== 'yes') continue;
        fired.push(index);
        const fire = {
          ...draft('met', { data: { wake: 'w' }, wake: true, grant: 'g' }),
          id: `fire${index}`,
          kind: { source: 'wake', name: 'met' },
        };
        append({ type: 'notification_queued', notification: fire });
        expect(restart().isGranted(fire)).toBe(true);
      }
      expect(fired).toEqual(expected === undefined ? [] : [expected]);
    }),
    { numRuns: 500 },
  );
});
