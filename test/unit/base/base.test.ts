// Basic helpers: disposables, emitters, ids, text.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DisposableStore, toDisposable } from '../../../src/base/disposable.ts';
import { Emitter } from '../../../src/base/emitter.ts';
import { decodeText } from '../../../src/base/text.ts';
import { createUlids, ULID_PATTERN } from '../../../src/base/ulid.ts';

test('a store disposes each disposable once in reverse order, and late additions at once', () => {
  const released: string[] = [];
  const store = new DisposableStore();
  for (const name of ['a', 'b', 'c']) store.add(toDisposable(() => released.push(name)));
  store.dispose();
  store.dispose();
  store.add(toDisposable(() => released.push('late')));
  expect(released).toEqual(['c', 'b', 'a', 'late']);
});

test('a disposable that throws does not prevent the others, and its error is rethrown', () => {
  const released: string[] = [];
  const store = new DisposableStore();
  store.add(toDisposable(() => released.push('a')));
  store.add(
    toDisposable(() => {
      throw new Error('broken');
    }),
  );
  expect(() => store.dispose()).toThrow('broken');
  expect(released).toEqual(['a']);
});

test('a listener that throws is reported, and the other listeners are called', () => {
  const received: number[] = [];
  const reported: unknown[] = [];
  const emitter = new Emitter<number>((error) => reported.push(error));
  const first = emitter.event(() => {
    throw new Error('broken');
  });
  const second = emitter.event((value) => received.push(value));
  emitter.fire(1);
  second.dispose();
  emitter.fire(2);
  first.dispose();
  expect(received).toEqual([1]);
  expect(reported).toHaveLength(2);
});

test('ids are ULIDs and increase within a millisecond and when the clock stops or goes back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 50 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      (steps, bytes) => {
        let now = 1_700_000_000_000;
        const ulid = createUlids(
          () => now,
          (target) => target.set(bytes),
        );
        const ids = steps.map((step) => {
          now += step - 1;
          return ulid();
        });
        expect(ids.every((id) => ULID_PATTERN.test(id))).toBe(true);
        expect([...ids].sort()).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
      },
    ),
  );
});

test('text is distinguished from binary data, and a byte-order mark is dropped', () => {
  expect(decodeText(Buffer.from('grüß 🦊'))).toBe('grüß 🦊');
  expect(decodeText(Buffer.from('\ufeffmark'))).toBe('mark');
  expect(decodeText(Uint8Array.of(0x61, 0, 0x62))).toBeUndefined();
  expect(decodeText(Uint8Array.of(0xff, 0xd8, 0x01))).toBeUndefined();
});
