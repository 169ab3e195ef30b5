// Tasks wait for a slot in order of arrival, and leave the queue when aborted.
import { expect, test } from 'vitest';
import { Slots } from '../../../src/base/slots.ts';

const never = new AbortController().signal;

test('the next task gets the slot, also after a failure; an aborted task does not', async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const abort = new AbortController();
  const failing = slots.run(() => first.promise, never);
  const waiting = ['a', 'called off', 'b'].map((name) =>
    slots.run(
      async () => {
        order.push(name);
        return name;
      },
      name === 'called off' ? abort.signal : never,
    ),
  );
  abort.abort();
  expect(await waiting[1]).toBeUndefined();
  first.reject(new Error('broken'));
  await expect(failing).rejects.toThrow('broken');
  expect(await Promise.all(waiting)).toEqual(['a', undefined, 'b']);
  expect(order).toEqual(['a', 'b']);
  expect(await slots.run(async () => 'free again', never)).toBe('free again');
  expect(await slots.run(async () => 'never', abort.signal)).toBeUndefined();
});
