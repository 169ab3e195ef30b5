// The composer's attachments and returned messages, also over a reload.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { succeeded } from '../../../../src/base/errors.ts';
import { type Client } from '../../../../src/core/client/client.ts';
import { type Drafts, PageComposer } from '../../../../src/core/frontend/page/pageComposer.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { type AttachmentView, type ChatHead } from '../../../../src/protocol/webview.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { createDraftsOf } from '../../../../src/vscode/chat/drafts.ts';
import { createWindowMemory } from '../../../../src/vscode/chat/windowMemory.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

let folder: string;
const errors: string[] = [];
const opened: Drafts[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-composing-'));
});
afterEach(async () => {
  for (const drafts of opened.splice(0)) await drafts.attachments.read();
  await rm(folder, { recursive: true, force: true });
  expect(errors.splice(0)).toEqual([]);
});

/** Opens a composer of a window on the same folder. */
function open() {
  const log = recordingLogger(errors);
  const draftsOf = createDraftsOf({ files: realFileSystem, folder, logger: log });
  const drafts = draftsOf(undefined);
  opened.push(drafts);
  const snapshots = createSnapshots({ files: realFileSystem, folder: join(folder, 'snapshots') });
  let attachments: readonly AttachmentView[] = [];
  let returned = false;
  const restored: string[] = [];
  const frontend = {
    setHead: (head: Partial<Pick<ChatHead, 'attachments' | 'returned'>>) => {
      attachments = head.attachments ?? attachments;
      returned = head.returned ?? returned;
    },
    restoreDraft: (text: string) => void restored.push(text),
    keepDraft: () => undefined,
  };
  const attach: Client['call'] = async (_, params) => {
    const { data } = params as unknown as { readonly data: string };
    return succeeded({ hash: await snapshots.put(Buffer.from(data, 'base64')) }) as never;
  };
  const composing = new PageComposer({
    draftsOf,
    client: { call: attach },
    frontend,
    logger: log,
    t: (text, ...values) => text.replace('{0}', String(values[0])),
  });
  return { composing, drafts, snapshots, restored, attachments: () => attachments, returned: () => returned };
}

const png = { type: 'attach', name: 'shot.png', media_type: 'image/png', data: 'iVBORw0KGgo=' } as const;

test('an attached image survives a reload and is sent once', async () => {
  const { composing, drafts } = open();
  expect(await composing.attach(png)).toMatchObject({ ok: true });
  expect(await composing.attach(png)).toMatchObject({ ok: true });
  await drafts.attachments.read();

  const next = open();
  await next.composing.show(undefined);
  expect(next.attachments()).toMatchObject([{ kind: 'image', name: 'shot.png' }]);
  const { attachments } = next.composing.take();
  expect(attachments).toMatchObject([{ type: 'image', media_type: 'image/png', name: 'shot.png' }]);
  const [image] = attachments;
  const hash = image !== undefined && 'hash' in image ? image.hash : '';
  expect(Buffer.from((await next.snapshots.get(hash)) ?? []).toString('base64')).toBe(png.data);
  expect(next.attachments()).toEqual([]);
  expect(next.composing.take().attachments).toEqual([]);
});

test('attachments of a refused message are attached again, before newer ones', async () => {
  const { composing, attachments } = open();
  await composing.attach(png);
  const { returnAttachments } = composing.take();
  await composing.attach({ ...png, name: 'other.png', data: 'AAAA' });
  await returnAttachments();
  expect(attachments().map(({ name }) => name)).toEqual(['shot.png', 'other.png']);
  await composing.detach(attachments()[0]?.id ?? '');
  expect(attachments().map(({ name }) => name)).toEqual(['other.png']);
});

test('an empty image is refused by name and changes nothing', async () => {
  const { composing, attachments } = open();
  const refused = await composing.attach({ ...png, data: '' });
  expect(refused).toMatchObject({ ok: false, failure: { code: 'image_size', message: 'shot.png is empty.' } });
  expect(attachments()).toEqual([]);
});

test('returned messages are on disk before the call resolves, before the draft, and only once', async () => {
  const { composing, drafts, restored, attachments } = open();
  await composing.draftChanged('half typed', undefined);
  const attached = [{ type: 'file_content', path: 'a.txt', content: 'one' } as const];
  const texts = [
    { id: '1', content: 'First.', at: '' },
    { id: '2', content: 'Second.', at: '', attachments: attached },
  ];
  await composing.returnMessages(texts);
  expect(await readFile(join(folder, 'draft.txt'), 'utf8')).toBe('First.\nSecond.\nhalf typed');
  await composing.returnMessages(texts);
  expect(await drafts.text.read()).toBe('First.\nSecond.\nhalf typed');
  expect(restored).toEqual(['First.\nSecond.']);
  expect(attachments()).toMatchObject([{ kind: 'file', id: 'a.txt' }]);
});

test('a returned message of a skill is what the user typed, not the text of the skill', async () => {
  const { composing, restored } = open();
  await composing.returnMessages([{ id: '3', content: 'A long file.', typed: '/tea green', at: '' }]);
  expect(restored).toEqual(['/tea green']);
});

const queued = { id: 'q', content: 'Go', at: '' };

test('a queued message is returned even if the draft begins with the same text', async () => {
  const { composing, drafts } = open();
  await composing.draftChanged('Go on', undefined);
  await composing.returnMessages([queued]);
  expect(await drafts.text.read()).toBe('Go\nGo on');
});

test('a returned message is marked over a reload until the composer is cleared', async () => {
  const first = open();
  expect(first.composing.has([queued])).toBe(false);
  await first.composing.returnMessages([queued]);
  expect(first.returned()).toBe(true);

  // The window died before the log recorded that the message was returned.
  const second = open();
  await second.composing.show(undefined);
  expect([second.returned(), second.composing.has([queued])]).toEqual([true, true]);
  await second.composing.returnMessages([queued]);
  expect(await second.drafts.text.read()).toBe('Go');
  await second.composing.draftChanged('Go away', undefined);
  expect(second.returned()).toBe(true);
  await second.composing.draftChanged('', undefined);
  expect(second.returned()).toBe(false);

  const third = open();
  await third.composing.show(undefined);
  expect([third.returned(), third.composing.has([queued])]).toEqual([false, false]);
});

test('a message that the user withdrew is not marked as undelivered', async () => {
  const { composing, drafts, returned } = open();
  await composing.restoreMessages([queued]);
  expect([await drafts.text.read(), returned()]).toEqual(['Go', false]);
});

test('attachments that cannot be read are ignored', async () => {
  await writeFile(join(folder, 'draft-attachments.json'), '[{"id": 7}]');
  const { composing, attachments } = open();
  await composing.show(undefined);
  expect(attachments()).toEqual([]);
});

test('each conversation has its own text and attachments; a started conversation takes over the text typed in the new chat', async () => {
  const { composing, attachments } = open();
  await composing.draftChanged('for the new chat', undefined);
  expect(await composing.show('a')).toBe('');
  await composing.attachFile('src/menu.ts');
  await composing.draftChanged('for a', 'a');
  // The page may still send the last change of the conversation that it showed before.
  await composing.draftChanged('for the new chat, longer', undefined);
  expect(await composing.show(undefined)).toBe('for the new chat, longer');
  expect(attachments()).toEqual([]);
  await composing.moveTo('b');
  expect(await composing.show('a')).toBe('for a');
  expect(attachments()).toMatchObject([{ kind: 'file', id: 'src/menu.ts' }]);
  expect(await composing.show('b')).toBe('for the new chat, longer');
  expect(await composing.show(undefined)).toBe('');
});

test('attached text is part of the message, under its name', async () => {
  const { composing, attachments } = open();
  await composing.attachText('Problems', 'src/menu.ts:1:1: error');
  expect(attachments()).toMatchObject([{ kind: 'text', name: 'Problems' }]);
  expect(composing.take()).toMatchObject({ attachments: [], text: 'Problems\nsrc/menu.ts:1:1: error' });
  expect(attachments()).toEqual([]);
});

test('the conversation that the window showed is read again; a damaged file counts as missing', async () => {
  const deps = { files: realFileSystem, folder, logger: recordingLogger([]) };
  const memory = createWindowMemory(deps);
  expect(await memory.read()).toEqual({ shown: undefined, running: [] });
  memory.write({ shown: 'a', running: ['b'] });
  expect(await memory.read()).toEqual({ shown: 'a', running: ['b'] });
  memory.write({ shown: null, running: [] });
  expect(await createWindowMemory(deps).read()).toBeDefined();
  expect(await memory.read()).toEqual({ shown: null, running: [] });
  await writeFile(join(folder, 'window.json'), '{"shown": 3');
  expect(await createWindowMemory(deps).read()).toEqual({ shown: undefined, running: [] });
});
