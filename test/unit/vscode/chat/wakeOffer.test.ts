// The offer to deliver notifications to a model that may run only at the user's request.
import { expect, test } from 'vitest';
import { WakeOffer } from '../../../../src/vscode/chat/wakeOffer.ts';

test('a held notification is offered once until released, and delivered only if the user accepts', async () => {
  const shown: string[] = [];
  const answers: ((chosen: string | undefined) => void)[] = [];
  let delivered = 0;
  const offer = new WakeOffer({
    t: (text, ...values) => text.replace('{0}', values[0] ?? ''),
    show: (message) => {
      shown.push(message);
      return new Promise((resolve) => answers.push(resolve));
    },
    deliver: async () => void (delivered += 1),
    report: (error) => expect(error).toBeUndefined(),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  offer.update('stopped', 'Tea');
  offer.update(undefined, 'Tea');
  expect(shown).toEqual([]);
  offer.update('model', 'Tea');
  offer.update('model', 'Tea');
  expect(shown).toEqual([expect.stringContaining('Tea')]);
  answers[0]?.(undefined);
  await settle();
  expect(delivered).toBe(0);
  offer.update(undefined, 'Tea');
  offer.update('model', 'Tea');
  answers[1]?.('Deliver now');
  await settle();
  expect([shown.length, delivered]).toEqual([2, 1]);
});
