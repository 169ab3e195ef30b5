// The table of the overview, and muting that can be undone for a week.
import { expect, test } from 'vitest';
import { type KindUse } from '../../../../src/protocol/page/overviewView.ts';
import { unmuteIn, muteIn, type MuteSettings } from '../../../../src/vscode/notifications/mutedSettings.ts';
import { RecentMutes } from '../../../../src/vscode/notifications/recentMutes.ts';
import { useTable } from '../../../../src/vscode/notifications/useTable.ts';

const none = { delivered: 0, tokens: 0, followed: 0, used: 0, read: 0, edited: 0, ran: 0, answered: 0, refused: 0 };
const kind = (name: string, more: Partial<KindUse>): KindUse => ({ source: 'task', name, ...none, ...more });
const tableOf = (
  kinds: readonly KindUse[],
  switches: Readonly<Record<string, Record<string, boolean>>> = {},
  undoable: readonly string[] = [],
) =>
  useTable({
    ...{ scope: 'all', conversations: 1, kinds, undoable },
    settings: { 'notifications.kinds': switches },
    kindLabel: ({ name }) => name,
    sourceLabel: (source) => source,
  }).kinds.map(({ name, state, offersMute }) => [name, state, offersMute]);

test('muting is offered for a kind that was followed by 20 model calls, never used and is not muted', () => {
  const ended = kind('ended', { delivered: 20, followed: 20 });
  expect(tableOf([ended])).toEqual([['ended', 'on', true]]);
  // The twentieth was not followed by a model call yet.
  expect(tableOf([{ ...ended, followed: 19 }])).toEqual([['ended', 'on', false]]);
  expect(tableOf([{ ...ended, used: 1, read: 1 }])).toEqual([['ended', 'on', false]]);
  expect(tableOf([ended], { task: { ended: false } })).toEqual([['ended', 'muted', false]]);
  expect(tableOf([ended], { task: { enable: false } })).toEqual([['ended', 'muted', false]]);
  expect(tableOf([ended], { task: { ended: false } }, ['task.ended'])).toEqual([['ended', 'undo', false]]);
  // Unmuted in the settings meanwhile.
  expect(tableOf([ended], {}, ['task.ended'])).toEqual([['ended', 'on', true]]);
  // What was muted elsewhere can be undone here.
  expect(tableOf([], { task: { ended: false } }, ['task.ended'])).toEqual([['ended', 'undo', false]]);
});

test('muting can be undone for a week, to what the settings were, also by another window', async () => {
  let now = 1_000_000;
  const stored = new Map<string, unknown>();
  const memory = {
    get: (key: string) => stored.get(key),
    update: async (key: string, value: unknown) => void stored.set(key, structuredClone(value)),
  };
  const what = { by: 'kind', kind: { source: 'task', name: 'ended' } } as const;
  const before: MuteSettings = { 'notifications.kinds': { task: { ended: true } }, 'notifications.ignoredPaths': [] };
  await new RecentMutes({ memory, now: () => now }).remember(what, before);
  const muted = { ...before, ...muteIn(before, what) };
  expect(muted['notifications.kinds']).toEqual({ task: { ended: false } });
  now += 7 * 24 * 60 * 60 * 1000 - 1;
  const later = new RecentMutes({ memory, now: () => now });
  expect(Object.keys(later.all)).toEqual(['task.ended']);
  const known = later.before(what);
  expect(known && unmuteIn(muted, what, known)).toEqual({ 'notifications.kinds': { task: { ended: true } } });
  now += 1;
  expect(later.all).toEqual({});
  expect(later.before(what)).toBeUndefined();
  now -= 1;
  await later.forget(what);
  expect(later.all).toEqual({});

  const bare: MuteSettings = { 'notifications.kinds': {}, 'notifications.ignoredPaths': [] };
  await later.remember(what, bare);
  const nothing = later.before(what);
  expect(nothing && unmuteIn({ ...bare, ...muteIn(bare, what) }, what, nothing)).toEqual({ 'notifications.kinds': {} });
});
