// Distribution over several front ends: failing, silent, late and leaving ones.
import { expect, test } from 'vitest';
import { type AttachedFrontend, Frontends } from '../../../../src/core/frontend/frontends.ts';
import { type ApprovalAnswer, type ApprovalRequest } from '../../../../src/core/ports/ports.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

const request: ApprovalRequest = { conversation: 'c', call: { id: 'a', name: 'run_command', arguments: {} } };
const approved: ApprovalAnswer = { action: 'approve', by: 'plugin:one' };
const texts = [{ id: 't', content: 'later' }] as never;

function begin() {
  const errors: string[] = [];
  const clock = createManualClock();
  const frontends = new Frontends({ clock, logger: recordingLogger(errors) });
  const add = (frontend: AttachedFrontend) => {
    const attached = frontends.add(frontend);
    atTestEnd(async () => attached.dispose());
  };
  return { frontends, add, clock, errors };
}

const silent = (): Promise<never> => new Promise(() => undefined);

function answering(answer: Promise<ApprovalAnswer>): AttachedFrontend & { readonly notified: string[] } {
  const notified: string[] = [];
  return {
    render: (conversation, { type }) => notified.push(`${conversation} ${type}`),
    approve: () => answer,
    approvalChanged: ({ problem = '' }) => notified.push(`changed ${problem}`),
    answeredElsewhere: (answered) => notified.push(`${answered.type} answered by ${answered.answer.by}`),
    notified,
  };
}

test('a front end that throws, rejects or never answers does not keep others from rendering and answering', async () => {
  const { frontends, add, errors } = begin();
  const fail = (what: string) => (): never => {
    throw new Error(what);
  };
  add({ render: fail('render'), approve: fail('approve') });
  add({ render: () => undefined, approve: () => Promise.reject(new Error('rejected')) });
  add({ render: () => undefined, approve: silent, answeredElsewhere: fail('answered') });
  const last = answering(Promise.resolve(approved));
  add(last);
  frontends.render('c', { type: 'tool_started', call: 'a' });
  expect(last.notified).toEqual(['c tool_started']);
  expect(await frontends.approve(request, new AbortController().signal)).toEqual(approved);
  await Promise.resolve();
  expect(errors.map((error) => error.replace(/^a front end failed: (Error: )?/, ''))).toEqual([
    'render',
    'approve',
    'rejected',
    'answered',
  ]);
});

test('a request that no front end can answer stays open until one joins', async () => {
  const { frontends, add, errors } = begin();
  add({ render: () => undefined });
  const answer = frontends.approve(request, new AbortController().signal);
  frontends.approvalChanged({ ...request, problem: 'new' });
  const asked: ApprovalRequest[] = [];
  add({
    render: () => undefined,
    approve: async (given) => {
      asked.push(given);
      return approved;
    },
  });
  expect(await answer).toEqual(approved);
  expect(asked).toEqual([{ ...request, problem: 'new' }]);
  expect(errors).toEqual([]);
});

test('of two answers at once the first wins, and the second front end is notified of it', async () => {
  const { frontends, add } = begin();
  const one = answering(Promise.resolve(approved));
  const two = answering(Promise.resolve({ action: 'reject', by: 'plugin:two' }));
  add(one);
  add(two);
  expect(await frontends.approve(request, new AbortController().signal)).toEqual(approved);
  expect([one.notified, two.notified]).toEqual([[], ['approval answered by plugin:one']]);
});

test('a changed approval is passed on to the front ends that were asked, and only while it is open', async () => {
  const { frontends, add } = begin();
  const { promise, resolve } = Promise.withResolvers<ApprovalAnswer>();
  const one = answering(promise);
  add(one);
  const answer = frontends.approve(request, new AbortController().signal);
  frontends.approvalChanged({ ...request, problem: 'x' });
  frontends.approvalChanged({ ...request, conversation: 'other', problem: 'y' });
  resolve(approved);
  await answer;
  frontends.approvalChanged({ ...request, problem: 'z' });
  expect(one.notified).toEqual(['changed x']);
});

test('an aborted request is cancelled in every front end, and none is notified of an answer', async () => {
  const { frontends, add, errors } = begin();
  const aborted: string[] = [];
  const cancelled = (name: string): AttachedFrontend => ({
    render: () => undefined,
    approve: (_request, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(name);
          reject(new Error('cancelled'));
        });
      }),
    answeredElsewhere: () => aborted.push(`${name} notified`),
  });
  add(cancelled('one'));
  add(cancelled('two'));
  const stop = new AbortController();
  const answer = frontends.approve(request, stop.signal);
  stop.abort();
  await expect(answer).rejects.toThrow('cancelled');
  await expect(frontends.approve(request, stop.signal)).rejects.toThrow('cancelled');
  expect([aborted, errors]).toEqual([['one', 'two'], []]);
});

test('queued messages are kept by one front end only; failing and silent ones are skipped', async () => {
  const { frontends, add, clock, errors } = begin();
  const kept: string[] = [];
  const keeping = (name: string, keeps: boolean): AttachedFrontend => ({
    render: () => undefined,
    returnMessages: async () => {
      kept.push(name);
      return keeps;
    },
  });
  expect(await frontends.returnMessages('c', texts)).toBe(false);
  add({ render: () => undefined, returnMessages: () => Promise.reject(new Error('full')) });
  add(keeping('not shown', false));
  add({
    render: () => undefined,
    returnMessages: () => {
      queueMicrotask(() => clock.advance(10_000));
      return silent();
    },
  });
  add(keeping('chat', true));
  add(keeping('never asked', true));
  expect(await frontends.returnMessages('c', texts)).toBe(true);
  expect(kept).toEqual(['not shown', 'chat']);
  expect(errors).toEqual([expect.stringContaining('full')]);
});
