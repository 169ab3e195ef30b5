// The offer to deliver notifications to a model that may run only at the user's request.
import { expect, test } from 'vitest';
import { type ShownOffer, WakeOffer } from '../../../../src/vscode/chat/wakeOffer.ts';

test('a held notification is offered once until released, and delivered only if the user accepts', async () => {
  const shown: ShownOffer[] = [];
  const answers: ((isChosen: boolean) => void)[] = [];
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
  expect(shown.map(({ text }) => text)).toEqual([expect.stringContaining('Tea')]);
  expect(shown[0]?.gone.aborted).toBe(false);
  answers[0]?.(false);
  await settle();
  expect(delivered).toBe(0);
  offer.update(undefined, 'Tea');
  expect(shown[0]?.gone.aborted).toBe(true);
  offer.update('model', 'Tea');
  answers[1]?.(true);
  await settle();
  expect([shown.length, delivered]).toEqual([2, 1]);
  offer.dispose();
  expect(shown[1]?.gone.aborted).toBe(true);
});
