// The author of a file change: only what was observed, never a guess.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { printAuthor } from '../../../../src/core/notify/wording/author.ts';
import { type ActiveCall } from '../../../../src/core/ports/producers.ts';
import { type SavedFile } from '../../../../src/core/ports/sources.ts';
import { Authorship } from '../../../../src/producers/files/authorship.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { createTestHost, type TestHost } from '../../../support/notify/producerHost.ts';

let host: TestHost;
let clock: ReturnType<typeof createManualClock>;
let saved: Emitter<SavedFile>;
let authorship: Authorship;

beforeEach(() => {
  host = createTestHost();
  host.titles.set('other', 'Fix the kettle');
  clock = createManualClock();
  saved = new Emitter(() => undefined);
  const none = new Emitter<never>(() => undefined);
  const buffers = { unsaved: () => [], onDidChange: none.event, onDidSave: saved.event, onDidRename: none.event };
  // The hash of bytes is their text.
  const snapshots = { hash: (bytes: Uint8Array) => Buffer.from(bytes).toString() };
  authorship = new Authorship({ clock, live: host.live, snapshots, buffers });
});
afterEach(() => authorship.dispose());

const ran = (more: Partial<ActiveCall>): ActiveCall => ({
  conversation: 'me',
  tool: 'run_command',
  paths: [],
  started: clock.now(),
  made: new Map(),
  ...more,
});

function judge(more: { touched?: number | undefined; git?: boolean; unobserved?: boolean } = {}): string {
  const change = { path: 'a.ts', hash: 'new', touched: clock.now(), ...more };
  const verdict = authorship.judge(change, 'me');
  return verdict === 'own' ? 'own' : printAuthor(verdict);
}

test('a change without an observed author is reported as made outside the editor, or without an author', () => {
  expect(judge()).toBe(', outside the editor');
  expect(judge({ touched: undefined })).toBe('');
  expect(judge({ touched: undefined, unobserved: true })).toBe(', while Earshot was not listening');
});

async function save(path: string, text: string, own = false, applied = false): Promise<void> {
  saved.fire({ path, bytes: Promise.resolve(Buffer.from(text)), own, applied });
  await authorship.savesKnown(path);
}

test('a recent save of the same file is the user’s; an old one, or one of another file, is not', async () => {
  await save('b.ts', 'new');
  expect(judge()).toBe(', outside the editor');
  await save('a.ts', 'new');
  expect(judge()).toBe(', by the user in the editor');
  clock.advance(5000);
  expect(judge()).toBe(', outside the editor');
});

test('a save with code from the chat that the user has applied says so; a later save does not', async () => {
  await save('a.ts', 'new', false, true);
  expect(judge()).toBe(', by the user in the editor, who applied code from the chat');
  await save('a.ts', 'new');
  expect(judge()).toBe(', by the user in the editor');
});

test('bytes that differ from the saved ones are not the user’s, even right after the save', async () => {
  await save('a.ts', 'old');
  expect(judge()).toBe(', outside the editor');
});

test('several saves before a comparison are all the user’s', async () => {
  saved.fire({ path: 'a.ts', bytes: Promise.resolve(Buffer.from('new')), own: false });
  saved.fire({ path: 'a.ts', bytes: Promise.reject(new Error('no such encoding')), own: false });
  await save('a.ts', 'newer');
  expect(judge()).toBe(', by the user in the editor');
});

test('a save by Earshot is not the user’s', async () => {
  await save('a.ts', 'new', true);
  expect(judge()).toBe(', outside the editor');
});

test('a running command is named, preferably one of the recipient; a command that ended before is not', () => {
  host.calls = [ran({ conversation: 'other', command: 'make' })];
  expect(judge()).toBe(', while a command of the conversation “Fix the kettle” was running');
  host.calls = [...host.calls, ran({ command: 'npm run fix\n  -- all' })];
  expect(judge()).toBe(', while your command `npm run fix ⏎ -- all` was running');
  host.calls = [ran({ command: 'make', ended: clock.now() })];
  clock.advance(5000);
  expect(judge()).toBe(', outside the editor');
});

test('an edit that wrote these bytes is not reported to its own conversation, and is named to others', () => {
  host.calls = [ran({ tool: 'edit_file', made: new Map([['a.ts', 'new']]) })];
  expect(judge()).toBe('own');
  host.calls = [ran({ conversation: 'other', tool: 'edit_file', made: new Map([['a.ts', 'new']]) })];
  expect(judge()).toBe(', by the conversation “Fix the kettle”');
  host.calls = [ran({ tool: 'edit_file', made: new Map([['a.ts', 'else']]) })];
  expect(judge()).toBe(', outside the editor');
});

test('a change made by a command of the conversation is reported and names the command', () => {
  host.calls = [ran({ command: 'npm run fix', made: new Map([['a.ts', 'new']]), ended: clock.now() })];
  expect(judge()).toBe(', while your command `npm run fix` was running');
});

test('a change during a git operation names git', () => {
  expect(judge({ git: true })).toBe(', during a git operation');
});

test('a file that a call names is being edited until the call ends', () => {
  host.calls = [ran({ tool: 'edit_file', paths: ['a.ts'] })];
  expect(authorship.isBeingEdited('a.ts')).toBe(true);
  expect(authorship.isBeingEdited('b.ts')).toBe(false);
  host.calls = [ran({ tool: 'edit_file', paths: ['a.ts'], ended: clock.now() })];
  expect(authorship.isBeingEdited('a.ts')).toBe(false);
});
