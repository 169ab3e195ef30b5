// Distribution over several front ends: failing, silent and leaving ones.
import { expect, test } from 'vitest';
import { type AttachedFrontend, Frontends } from '../../../../src/core/frontend/frontends.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

const texts = [{ id: 't', content: 'later' }] as never;

function begin() {
  const errors: string[] = [];
  const clock = createManualClock();
  const frontends = new Frontends({ clock, logger: recordingLogger(errors) });
  const add = (frontend: AttachedFrontend) => {
    const attached = frontends.add(frontend);
    atTestEnd(async () => attached.dispose());
    return attached;
  };
  return { frontends, add, clock, errors };
}

const silent = (): Promise<never> => new Promise(() => undefined);

test('a front end that throws does not keep others from rendering, and one that left renders no more', () => {
  const { frontends, add, errors } = begin();
  const rendered: string[] = [];
  add({
    render: () => {
      throw new Error('broken');
    },
  });
  const left = add({ render: (_conversation, { type }) => rendered.push(`left ${type}`) });
  add({ render: (conversation, { type }) => rendered.push(`${conversation} ${type}`) });
  left.dispose();
  frontends.render('c', { type: 'tool_started', call: 'a' });
  expect(rendered).toEqual(['c tool_started']);
  expect(errors).toEqual([expect.stringContaining('broken')]);
});

test('a listener of requests that throws is logged and keeps nobody from answering', async () => {
  const { frontends, errors } = begin();
  const { requests } = frontends;
  const listening = requests.onDidChange(() => {
    throw new Error('broken');
  });
  atTestEnd(async () => listening.dispose());
  const call = { id: 'a', name: 'run_command', arguments: {} };
  const asked = requests.approve({ conversation: 'c', call }, new AbortController().signal);
  const answer = { action: 'approve', by: 'plugin:one' } as const;
  requests.answer({ type: 'approval', conversation: 'c', id: 'a', answer });
  expect(await asked).toEqual(answer);
  expect(errors).toHaveLength(2);
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
