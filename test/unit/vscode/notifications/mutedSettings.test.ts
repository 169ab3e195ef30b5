// Muting and its undo in the settings.
import { expect, test } from 'vitest';
import { type Mute } from '../../../../src/protocol/page/pendingView.ts';
import { type MuteSettings, muteIn, unmuteIn } from '../../../../src/vscode/notifications/mutedSettings.ts';

const none: MuteSettings = { 'notifications.kinds': {}, 'notifications.ignoredPaths': [] };
const ofKind = (source: string, name: string): Mute => ({ by: 'kind', kind: { source, name } });
const ofPath = (path: string): Mute => ({ by: 'path', path });

/** Mutes in this order, and undoes the first one at the end. */
function undoFirst(before: MuteSettings, first: Mute, ...later: readonly Mute[]): MuteSettings {
  const muted = [first, ...later].reduce((settings, what) => ({ ...settings, ...muteIn(settings, what) }), before);
  return { ...muted, ...unmuteIn(muted, first, before) };
}

test('undoing a muted kind keeps the kinds that were muted after it', () => {
  const task = ofKind('task', 'ended');
  expect(undoFirst(none, ofKind('file', 'changed'), task)).toEqual({ ...none, ...muteIn(none, task) });
  expect(undoFirst(none, ofKind('file', 'changed'), ofKind('file', 'created'))['notifications.kinds']).toEqual({
    file: { created: false },
  });
  const source: Mute = { by: 'source', kind: { source: 'file', name: 'changed' } };
  expect(undoFirst(none, source, task)).toEqual({ ...none, ...muteIn(none, task) });
});

test('undoing a muted file keeps the files that were muted after it', () => {
  expect(undoFirst(none, ofPath('a[1].ts'), ofPath('b.ts'))['notifications.ignoredPaths']).toEqual(['b.ts']);
});

test('undo restores what the settings had before', () => {
  const before: MuteSettings = {
    'notifications.kinds': { file: { changed: true }, task: { ended: false } },
    'notifications.ignoredPaths': ['a.ts'],
  };
  for (const what of [ofKind('file', 'changed'), ofKind('task', 'ended'), ofPath('a.ts'), ofPath('b.ts')]) {
    expect(undoFirst(before, what)).toEqual(before);
  }
  expect(undoFirst(none, ofKind('file', 'changed'))).toEqual(none);
});
