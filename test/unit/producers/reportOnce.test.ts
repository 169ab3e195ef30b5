// Reports that may not have been delivered: replaced while pending, known once delivered.
import { expect, test } from 'vitest';
import { type Publisher } from '../../../src/core/ports/ports.ts';
import { ReportOnce, type ReportOnceDeps } from '../../../src/producers/reportOnce.ts';
import { type Kind } from '../../../src/protocol/notification.ts';
import { createManualClock } from '../../support/manualClock.ts';

const kind = { source: 'task', name: 'ended' };
const draft = { kind, level: 'info', message: 'one', subject: 's', origin: 'host' } as const;

function begin(until: ReportOnceDeps['until'], publish: Publisher['publish'] = async () => undefined) {
  const pending = new Set<string>();
  const errors: unknown[] = [];
  const reports = new ReportOnce<string>({
    clock: createManualClock(),
    until,
    failed: (error) => errors.push(error),
    publisher: {
      publish: (given, to) => {
        pending.add(`${to ?? ''} ${given.kind.name} ${given.at}`);
        return publish(given, to);
      },
      withdraw: async ({ name }: Kind, _subject, _reason, to) => {
        const found = [...pending].filter((one) => one.startsWith(`${to ?? ''} ${name} `));
        for (const one of found) pending.delete(one);
        return found.length > 0;
      },
    },
  });
  return { reports, pending, errors };
}

test('a pending report is withdrawn and not known; a delivered one is known', async () => {
  const { reports, pending } = begin('withdrawn');
  reports.report('c', 's', 'state', draft);
  expect([...pending]).toEqual(['c ended 2026-01-01T00:00:00.000Z']);
  expect(reports.get('c', 's')).toBe('state');
  expect(await reports.withdraw('c', 's', [kind], 'changed')).toEqual({ state: 'state', delivered: false });
  expect([reports.get('c', 's'), await reports.withdraw('c', 's', [kind], 'changed')]).toEqual([undefined, undefined]);
  reports.report('c', 's', 'next', draft);
  pending.clear();
  expect(await reports.withdraw('c', 's', [kind], 'changed')).toEqual({ state: 'next', delivered: true });
});

test('withdrawing one of two kinds means that the report was not delivered', async () => {
  const { reports, pending } = begin('withdrawn');
  reports.report('c', 's', 'state', draft, { ...draft, kind: { source: 'task', name: 'other' } });
  pending.delete('c ended 2026-01-01T00:00:00.000Z');
  const kinds = [kind, { source: 'task', name: 'other' }];
  expect(await reports.withdraw('c', 's', kinds, 'changed')).toEqual({ state: 'state', delivered: false });
});

test('until queued: a report is forgotten once it is queued, unless a newer one has replaced it', async () => {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const queue = [first.promise, second.promise];
  const { reports } = begin('queued', () => queue.shift() ?? Promise.resolve());
  reports.report('c', 's', 'old', draft);
  reports.report('c', 's', 'new', draft);
  first.resolve();
  await new Promise(setImmediate);
  expect(reports.get('c', 's')).toBe('new');
  second.resolve();
  await new Promise(setImmediate);
  expect(reports.get('c', 's')).toBeUndefined();
});

test('conversations and subjects are separate; a failed publication is passed on', async () => {
  const { reports, errors } = begin('withdrawn', () => Promise.reject(new Error('full disk')));
  reports.report('a', 's', 'one', draft);
  reports.report('a', 't', 'two', draft);
  reports.report('b', 's', 'three', draft);
  reports.forget('a', 's');
  expect([reports.get('a', 's'), reports.get('a', 't'), reports.get('b', 's')]).toEqual([undefined, 'two', 'three']);
  reports.forget('a');
  expect([reports.get('a', 't'), reports.get('b', 's')]).toEqual([undefined, 'three']);
  await new Promise(setImmediate);
  expect(errors.map(String)).toEqual(['Error: full disk', 'Error: full disk', 'Error: full disk']);
});
