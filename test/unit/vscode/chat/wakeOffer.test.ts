// A model that may be asked only on the user's own doing: offered once, told only when the user chose it.
import { expect, test } from 'vitest';
import { WakeOffer } from '../../../../src/vscode/chat/wakeOffer.ts';

test('one toast for as long as it is held, and only the choice tells the model', async () => {
  const shown: string[] = [];
  const answers: ((chosen: string | undefined) => void)[] = [];
  let told = 0;
  const offer = new WakeOffer({
    show: (message) => {
      shown.push(message);
      return new Promise((resolve) => answers.push(resolve));
    },
    deliver: async () => void (told += 1),
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
  expect(told).toBe(0);
  offer.update(undefined, 'Tea');
  offer.update('model', 'Tea');
  answers[1]?.('Deliver now');
  await settle();
  expect([shown.length, told]).toEqual([2, 1]);
});
