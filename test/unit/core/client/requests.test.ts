// The register of open requests: whoever follows it, in whichever order, sees exactly the requests that are open.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RequestAnswer, type RequestChange, Requests } from '../../../../src/core/client/requests.ts';
import { type ApprovalRequest } from '../../../../src/core/ports/ports.ts';
import { atTestEnd } from '../../../support/endings.ts';

const unexpected = (error: unknown): never => {
  throw error;
};
const approval = (id: string, conversation = 'c'): ApprovalRequest => ({
  conversation,
  call: { id, name: 'run_command', arguments: {} },
});
const approve = (id: string, conversation = 'c', revision?: number): RequestAnswer => ({
  ...{ type: 'approval', conversation, id, revision },
  answer: { action: 'approve', by: 'user' },
});
const reject = (id: string, revision: number): RequestAnswer => ({
  ...{ type: 'approval', conversation: 'c', id, revision },
  answer: { action: 'reject', by: 'user' },
});

function listen(requests: Requests, listener: (change: RequestChange) => void): void {
  const listening = requests.onDidChange(listener);
  atTestEnd(async () => listening.dispose());
}

/** A front end that shows what `all` had when it joined, and then only follows the changes. */
function follow(requests: Requests) {
  const shown = new Map(requests.all.map((open) => [open.id, open]));
  const problems: string[] = [];
  const listening = requests.onDidChange(({ type, open }: RequestChange) => {
    const known = shown.get(open.id);
    if (type === 'opened' && known !== undefined) problems.push(`${open.id} was opened twice`);
    if (type !== 'opened' && known === undefined) problems.push(`${open.id} was ${type} but never opened`);
    if (type === 'closed') shown.delete(open.id);
    else shown.set(open.id, open);
  });
  return { shown, problems, leave: () => listening.dispose() };
}

test('the first answer counts; a later one is refused with the name of who answered', async () => {
  const requests = new Requests(unexpected);
  const asked = requests.approve(approval('a'), new AbortController().signal);
  expect(requests.countOf('c')).toBe(1);
  const first: RequestAnswer = { ...approve('a'), answer: { action: 'reject', by: 'plugin:one' } } as RequestAnswer;
  expect(requests.answer(first)).toMatchObject({ ok: true });
  expect(requests.answer(approve('a'))).toMatchObject({
    failure: { code: 'already_answered', message: 'It was already answered by plugin:one.' },
  });
  expect(await asked).toEqual({ action: 'reject', by: 'plugin:one' });
  expect([requests.all, requests.countOf('c')]).toEqual([[], 0]);
});

test('calls of two conversations with the same id are two requests', async () => {
  const requests = new Requests(unexpected);
  const { signal } = new AbortController();
  const [one, two] = [requests.approve(approval('a', '1'), signal), requests.approve(approval('a', '2'), signal)];
  expect(requests.answer(approve('a', '2'))).toMatchObject({ ok: true });
  expect(await two).toMatchObject({ action: 'approve' });
  expect(requests.all).toMatchObject([{ conversation: '1' }]);
  requests.answer(approve('a', '1'));
  await one;
});

test('what has changed since it was shown cannot be approved, only rejected', async () => {
  const requests = new Requests(unexpected);
  const asked = requests.approve(approval('a'), new AbortController().signal);
  const shown = requests.approval('c', 'a')?.revision ?? 0;
  requests.approvalChanged({ ...approval('a'), preview: { files: [], refusal: 'the file is gone' } });
  expect(requests.answer(approve('a', 'c', shown))).toMatchObject({ failure: { code: 'not_as_approved' } });
  expect(requests.all).toHaveLength(1);
  expect(requests.answer(reject('a', shown))).toMatchObject({ ok: true });
  await asked;
});

test('a request that is asked again has another revision, so an answer to the first does not approve the second', async () => {
  const requests = new Requests(unexpected);
  const { signal } = new AbortController();
  const first = requests.approve(approval('a'), signal);
  const { revision } = requests.approval('c', 'a') ?? { revision: 0 };
  requests.answer(approve('a', 'c', revision));
  await first;
  const second = requests.approve({ ...approval('a'), problem: 'The files have changed.' }, signal);
  expect(requests.answer(approve('a', 'c', revision))).toMatchObject({ ok: false });
  requests.answer(approve('a', 'c', requests.approval('c', 'a')?.revision));
  await second;
});

test('an aborted request closes without an answer, also if it was aborted before it was asked', async () => {
  const requests = new Requests(unexpected);
  const changes: RequestChange[] = [];
  listen(requests, (change) => changes.push(change));
  const stop = new AbortController();
  const asked = requests.approve(approval('a'), stop.signal);
  stop.abort();
  await expect(asked).rejects.toThrow('cancelled');
  await expect(requests.approve(approval('b'), stop.signal)).rejects.toThrow('cancelled');
  expect(changes.map(({ type, open, answer }) => [type, open.id, answer])).toEqual([
    ['opened', 'a', undefined],
    ['closed', 'a', undefined],
  ]);
  expect(requests.answer(approve('a'))).toMatchObject({
    failure: { message: 'It was already answered by cancelled.' },
  });
});

test('a front end that answers at once, and one that fails, leave the others with the right order of changes', async () => {
  const errors: unknown[] = [];
  const requests = new Requests((error) => errors.push(error));
  listen(requests, () => {
    throw new Error('broken');
  });
  listen(requests, ({ type }) => type === 'opened' && requests.answer(approve('a')));
  const last = follow(requests);
  await requests.approve(approval('a'), new AbortController().signal);
  last.leave();
  expect([last.shown.size, last.problems, errors.length]).toEqual([0, [], 2]);
});

test('property: a follower that joins at any moment shows exactly what is open, and nothing twice', async () => {
  const id = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('ask', 'change', 'answer', 'abort'), id }),
    fc.record({ do: fc.constantFrom('follow', 'leave'), id }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const requests = new Requests(unexpected);
      const stops = new Map<string, AbortController>();
      const asked: Promise<unknown>[] = [];
      let followers = [follow(requests)];
      for (const { do: what, id: call } of steps) {
        if (what === 'ask' && requests.approval('c', call) === undefined) {
          stops.set(call, new AbortController());
          asked.push(
            requests.approve(approval(call), (stops.get(call) as AbortController).signal).catch(() => undefined),
          );
        } else if (what === 'change') requests.approvalChanged({ ...approval(call), problem: 'changed' });
        else if (what === 'answer') requests.answer(approve(call));
        else if (what === 'abort') stops.get(call)?.abort();
        else if (what === 'follow') followers.push(follow(requests));
        else if (what === 'leave') {
          followers.at(0)?.leave();
          followers = followers.slice(1);
        }
        for (const { shown, problems } of followers) {
          expect(problems).toEqual([]);
          expect([...shown.values()].sort((one, two) => one.revision - two.revision)).toEqual(
            [...requests.all].sort((one, two) => one.revision - two.revision),
          );
        }
      }
      for (const { leave } of followers) leave();
      for (const stop of stops.values()) stop.abort();
      await Promise.all(asked);
    }),
  );
});
