// The questions whether a program may attach to the window, and whether an agent may get notifications.
import { expect, test } from 'vitest';
import { type AttachChoice, ProgramConsent } from '../../../src/plugins/host/consent.ts';

test('a program that connects again while the user is asked causes no second question; after a refusal it does', async () => {
  const asked: PromiseWithResolvers<AttachChoice>[] = [];
  const approved = new Set<string>();
  const consent = new ProgramConsent({
    approved: { has: async (key) => approved.has(key), add: async (key) => void approved.add(key) },
    programs: () => new Map(),
    isTrusted: () => true,
    folder: () => '/w',
    roots: () => ['/w'],
    confirmRun: async () => false,
    confirmListen: async () => false,
    confirmAttach: () => {
      const question = Promise.withResolvers<AttachChoice>();
      asked.push(question);
      return question.promise;
    },
  });
  const attach = (name: string) => consent.allowAttach(name, '1');
  const first = [attach('tea'), attach('tea'), attach('milk')];
  await expect.poll(() => asked.length).toBe(2);
  for (const question of asked) question.resolve('refuse');
  expect((await Promise.all(first)).map(({ ok }) => ok)).toEqual([false, false, false]);
  const second = [attach('tea'), attach('tea')];
  await expect.poll(() => asked.length).toBe(3);
  asked[2]?.resolve('watch');
  expect((await Promise.all(second)).map(({ ok }) => ok)).toEqual([true, true]);
  expect(await attach('tea')).toMatchObject({ ok: true });
  expect(asked).toHaveLength(3);
});

test('the question whether an agent may get notifications stays open after its message has vanished', async () => {
  const approved = new Set<string>();
  let [messages, changes] = [0, 0];
  const consent = new ProgramConsent({
    approved: { has: async (key) => approved.has(key), add: async (key) => void approved.add(key) },
    programs: () => new Map(),
    isTrusted: () => true,
    folder: () => '/w',
    roots: () => ['/w'],
    confirmRun: async () => false,
    confirmAttach: async () => 'refuse',
    confirmListen: async () => {
      messages += 1;
      return undefined;
    },
    listenersChanged: () => (changes += 1),
  });
  const listen = () => consent.allowListen({ agent: 'codex', version: '1' });
  expect(await listen()).toMatchObject({ failure: { nextStep: 'Try again later.' } });
  expect(await listen()).toMatchObject({ failure: { nextStep: 'Try again later.' } });
  expect(messages).toBe(1);
  expect(consent.openListens).toEqual([{ agent: 'codex', version: '1' }]);
  await consent.answerListen('codex', true);
  expect(await listen()).toMatchObject({ ok: true });
  expect(consent.openListens).toEqual([]);
  expect(changes).toBe(2);
});
