// Lines of any events are read back unchanged, no matter how the buffer grew and was reused.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { LineBuffer } from '../../../src/storage/eventFile.ts';
import { readEvents } from '../../../src/storage/readEvents.ts';

const titled = (title: string, index: number): LogEvent => ({
  v: 1,
  seq: index + 1,
  event_id: `event-${index}`,
  timestamp: '2026-01-02T03:04:05.000Z',
  type: 'title_set',
  title,
});
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.integer({ min: 0, max: 60_000 }).map((length) => 'ü€😀'.repeat(length / 3)),
);

test('lines are read back as added, also from a reused buffer', () => {
  const lines = new LineBuffer();
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (titles) => {
      // A lone surrogate is written as JSON escapes it, so it is read back too.
      const events = titles.map(titled);
      lines.clear();
      for (const event of events) lines.add(event);
      const read = readEvents(Buffer.from(lines.bytes));
      expect(read.damage).toEqual([]);
      expect([...read.events]).toEqual(events);
    }),
    { numRuns: 300 },
  );
});
