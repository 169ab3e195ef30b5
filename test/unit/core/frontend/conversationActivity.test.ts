// Conversations that are not shown: what happens in them meanwhile.
import { expect, test } from 'vitest';
import { Activities } from '../../../../src/core/frontend/conversationActivity.ts';
import { type OpenRequest } from '../../../../src/core/client/requests.ts';
import { type LogEvent } from '../../../../src/protocol/event.ts';

test('activities: an approval takes precedence over running, and an unseen end stays until the conversation is shown', () => {
  const running = new Set(['a']);
  let open: OpenRequest[] = [];
  let shown = 'b';
  let isOpen = true;
  const requests = {
    get all() {
      return open;
    },
  };
  const activities = new Activities({
    get: (id) => (isOpen ? { title: `Title ${id}`, running: running.has(id), model: 'tea/green' } : undefined),
    requests,
    isShown: (id) => id === shown,
  });
  activities.changed('a');
  expect(activities.othersThan(shown)).toEqual([
    { id: 'a', title: 'Title a', activity: 'running', model: 'tea/green' },
  ]);
  open = [{ type: 'approval', conversation: 'a', id: 'x' } as OpenRequest];
  expect(activities.activityOf('a')).toBe('approval');
  [open, running].forEach((one) => (Array.isArray(one) ? one.splice(0) : one.clear()));
  activities.changed('a', { type: 'turn_ended', outcome: 'error' } as LogEvent);
  expect(activities.othersThan(shown)).toMatchObject([{ activity: 'failed', model: 'tea/green' }]);
  isOpen = false;
  // Of a closed one the model is not known.
  expect(activities.othersThan(shown)).toEqual([{ id: 'a', title: 'Title a', activity: 'failed' }]);
  shown = 'a';
  activities.seen('a');
  expect(activities.activityOf('a')).toBeUndefined();
});
