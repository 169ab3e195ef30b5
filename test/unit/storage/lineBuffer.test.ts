// Whatever an event says, its line is read back as it was, however the buffer had to grow and was used before.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { LineBuffer } from '../../../src/storage/lineBuffer.ts';
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

test('lines are read back as they were added, also in a buffer that is used again', () => {
  const lines = new LineBuffer();
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 6 }), (titles) => {
      // A lone surrogate is written as JSON writes it, and so reads back too.
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
