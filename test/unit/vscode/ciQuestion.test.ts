// The question whether CI may be followed: asked once, open until it is answered, and *Never* is final.
import { expect, test } from 'vitest';
import { type ForgeWay } from '../../../src/protocol/settings.ts';
import { CiQuestion } from '../../../src/vscode/ciQuestion.ts';
import type { Choice, WaitingQuestion } from '../../../src/vscode/waitingApprovals.ts';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A window; several share a memory, as windows of the same user do. */
function openWindow(memory = new Map<string, unknown>()) {
  const asked: { question: WaitingQuestion; labels: readonly string[]; answer(label: string | undefined): void }[] = [];
  const ways: ForgeWay[] = [];
  const signIns: string[] = [];
  let way: ForgeWay = 'ask';
  const question = new CiQuestion({
    waiting: {
      choose: <A>(one: WaitingQuestion, choices: readonly Choice<A>[]) => {
        const { promise, resolve } = Promise.withResolvers<A | undefined>();
        const labels = choices.map(({ label }) => label);
        const answer = (label: string | undefined) => resolve(choices.find((choice) => choice.label === label)?.answer);
        asked.push({ question: one, labels, answer });
        return promise;
      },
      withdraw: () => asked.at(-1)?.answer(undefined),
    },
    memory: { get: (key) => memory.get(key), update: async (key, value) => void memory.set(key, value) },
    t: (text, ...values) => text.replace('{0}', values[0] ?? ''),
    way: () => way,
    setWay: async (chosen) => void ways.push((way = chosen)),
    signIn: async () => void signIns.push('github'),
    report: (error) => expect(error).toBeUndefined(),
  });
  const set = (chosen: ForgeWay) => {
    way = chosen;
    question.wayChanged();
  };
  return { memory, asked, ways, signIns, question, set };
}

test('pushes cause one question, which stays open, also in the next window, until it is answered', async () => {
  const first = openWindow();
  first.question.ask('github.com', 'push');
  first.question.ask('github.com', 'push');
  await settle();
  expect(first.asked.map(({ labels }) => labels)).toEqual([['Use gh', 'Use GitHub Account', 'Not Now', 'Never']]);
  expect([...first.memory]).toEqual([]);
  // The window was closed without an answer.
  const second = openWindow(first.memory);
  second.question.ask('github.com', 'push');
  expect(second.asked).toHaveLength(1);
});

test('after “Not Now” no push asks again, in any window; a condition that the user approved does', async () => {
  const { question, asked, ways, memory } = openWindow();
  question.ask('github.com', 'push');
  asked[0]?.answer('Not Now');
  await settle();
  question.ask('github.com', 'push');
  const other = openWindow(memory);
  other.question.ask('gitlab.com', 'push');
  expect([asked.length, other.asked.length, ways]).toEqual([1, 0, []]);
  question.ask('github.com', 'condition');
  expect(asked).toHaveLength(2);
});

test('“Never” writes off, and every way is written as it was chosen', async () => {
  const chosen: Readonly<Record<string, ForgeWay>> = { Never: 'off', 'Use gh': 'gh', 'Use GitHub Account': 'account' };
  for (const [label, way] of Object.entries(chosen)) {
    const { question, asked, ways, signIns, memory } = openWindow();
    question.ask('github.com', 'push');
    asked[0]?.answer(label);
    await settle();
    expect([ways, signIns.length, memory.size]).toEqual([[way], way === 'account' ? 1 : 0, 1]);
  }
  const ofGitLab = openWindow();
  ofGitLab.question.ask('gitlab.example', 'push');
  expect(ofGitLab.asked[0]?.labels).toEqual(['Use glab', 'Not Now', 'Never']);
});

test('a way that is chosen in the settings meanwhile withdraws the question, which does not count as answered', async () => {
  const { question, asked, ways, memory, set } = openWindow();
  question.ask('github.com', 'push');
  set('ask');
  await settle();
  question.ask('github.com', 'push');
  expect(asked).toHaveLength(1);
  set('gh');
  await settle();
  expect([ways, memory.size]).toEqual([[], 0]);
  set('ask');
  question.ask('github.com', 'push');
  expect(asked).toHaveLength(2);
});
