// A disk that fills up during a turn: the user is notified, nothing is lost, and the conversation continues once there is space.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Failure } from '../../../src/base/errors.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type FileSystem, realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { describeState } from '../../support/log/memoryStorage.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let window: Headless | undefined;
let server: ScriptedServer | undefined;

afterEach(async () => {
  await window?.end();
  await server?.stop();
});

/** A real disk that is full while `full` returns true: half of each write still succeeds. */
function fillableDisk(full: () => boolean): FileSystem {
  const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  return {
    ...realFileSystem,
    openForAppend: async (path) => {
      const file = await realFileSystem.openForAppend(path);
      return {
        ...file,
        append: async (bytes) => {
          if (!full()) return file.append(bytes);
          await file.append(bytes.subarray(0, bytes.length / 2));
          throw noSpace();
        },
      };
    },
  };
}

test('a full disk ends the turn with an error, and the next request continues from what is on disk', async () => {
  let full = false;
  server = await startScriptedServer(
    { calls: [{ id: 'read', name: 'read_file', arguments: { path: 'a.txt' } }] },
    { text: ['I go on.'] },
  );
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => undefined });
  window = await startHeadless({ model, files: fillableDisk(() => full) });
  const { earshot } = window;
  await writeFile(join(window.folder, 'a.txt'), 'text\n');
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const failures: Failure[] = [];
  const listening = earshot.onDidChange(({ folded, failure }) => {
    // Writes fail from the answer on.
    if (folded?.event.type === 'config_used') full = true;
    if (failure !== undefined) failures.push(failure);
  });
  await earshot.send(log.id, 'Read it.');
  await earshot.settled(log.id);
  listening.dispose();
  expect(failures).toMatchObject([
    { code: 'storage', nextStep: expect.stringContaining('Free disk space') as unknown },
  ]);
  expect(await earshot.send(log.id, 'Still full?')).toMatchObject({ ok: false, failure: { code: 'storage' } });

  full = false;
  expect(await earshot.send(log.id, 'Go on.')).toEqual({ ok: true, value: undefined });
  await earshot.settled(log.id);
  const contents = log.state.messages.all.map((message) => message.content);
  expect(contents).toEqual(['Read it.', 'Go on.', 'I go on.']);
  expect(log.state.transcript.items.filter((item) => item.type === 'notice')).toHaveLength(1);
  await earshot.close(log.id);
  const reopened = await earshot.open(log.id);
  if (!reopened.ok) throw new Error(reopened.failure.message);
  expect(reopened.value.damage).toEqual([]);
  expect(describeState(reopened.value.log.state)).toEqual(describeState(log.state));
});
