// Who changed a file: only as far as it was observed, and never a guess.
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
  // Bytes are their own hash.
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

function judge(more: { touched?: number | undefined; git?: boolean; unheard?: boolean } = {}): string {
  const change = { path: 'a.ts', hash: 'new', touched: clock.now(), ...more };
  const verdict = authorship.judge(change, 'me');
  return verdict === 'own' ? 'own' : printAuthor(verdict);
}

test('nobody was seen', () => {
  expect(judge()).toBe(', outside the editor');
  expect(judge({ touched: undefined })).toBe('');
  expect(judge({ touched: undefined, unheard: true })).toBe(', while Earshot was not listening');
});

async function save(path: string, text: string, own = false): Promise<void> {
  saved.fire({ path, bytes: Promise.resolve(Buffer.from(text)), own });
  await authorship.savesKnown(path);
}

test('a save in the editor, but not one of long ago or of another file', async () => {
  await save('b.ts', 'new');
  expect(judge()).toBe(', outside the editor');
  await save('a.ts', 'new');
  expect(judge()).toBe(', by the user in the editor');
  clock.advance(5000);
  expect(judge()).toBe(', outside the editor');
});

test('other bytes than a save wrote are not the user’s, however soon after it they come', async () => {
  await save('a.ts', 'old');
  expect(judge()).toBe(', outside the editor');
});

test('several saves before anybody looked: each of them is the user’s', async () => {
  saved.fire({ path: 'a.ts', bytes: Promise.resolve(Buffer.from('new')), own: false });
  saved.fire({ path: 'a.ts', bytes: Promise.reject(new Error('no such encoding')), own: false });
  await save('a.ts', 'newer');
  expect(judge()).toBe(', by the user in the editor');
});

test('a save of Earshot’s own is never the user’s', async () => {
  await save('a.ts', 'new', true);
  expect(judge()).toBe(', outside the editor');
});

test('a command that ran then: the hearer’s own before another’s; one that had ended before is none', () => {
  host.calls = [ran({ conversation: 'other', command: 'make' })];
  expect(judge()).toBe(', while a command of the conversation “Fix the kettle” was running');
  host.calls = [...host.calls, ran({ command: 'npm run fix\n  -- all' })];
  expect(judge()).toBe(', while your command `npm run fix ⏎ -- all` was running');
  host.calls = [ran({ command: 'make', ended: clock.now() })];
  clock.advance(5000);
  expect(judge()).toBe(', outside the editor');
});

test('an edit that made just these bytes: silent to its own conversation, named to others; other bytes are not its own', () => {
  host.calls = [ran({ tool: 'edit_file', made: new Map([['a.ts', 'new']]) })];
  expect(judge()).toBe('own');
  host.calls = [ran({ conversation: 'other', tool: 'edit_file', made: new Map([['a.ts', 'new']]) })];
  expect(judge()).toBe(', by the conversation “Fix the kettle”');
  host.calls = [ran({ tool: 'edit_file', made: new Map([['a.ts', 'else']]) })];
  expect(judge()).toBe(', outside the editor');
});

test('what a command of its own is known to have made is told, and says so', () => {
  host.calls = [ran({ command: 'npm run fix', made: new Map([['a.ts', 'new']]), ended: clock.now() })];
  expect(judge()).toBe(', while your command `npm run fix` was running');
});

test('git at work', () => {
  expect(judge({ git: true })).toBe(', during a git operation');
});

test('a file that a running call names is being edited until that call has ended', () => {
  host.calls = [ran({ tool: 'edit_file', paths: ['a.ts'] })];
  expect(authorship.isBeingEdited('a.ts')).toBe(true);
  expect(authorship.isBeingEdited('b.ts')).toBe(false);
  host.calls = [ran({ tool: 'edit_file', paths: ['a.ts'], ended: clock.now() })];
  expect(authorship.isBeingEdited('a.ts')).toBe(false);
});
