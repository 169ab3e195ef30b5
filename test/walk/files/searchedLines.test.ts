// Lines that a search command showed count as read, and only they: a change of one is reported, a change of others is not.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { followLines } from '../../../src/core/files/followLines.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const TEXT = ['one', 'two', 'needle here', 'four', 'five', ''].join('\n');

let headless: Headless;
let server: ScriptedServer;
let log: ConversationLog;

beforeEach(async () => {
  server = await startScriptedServer();
  headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
    settings: { 'approvals.mode': 'all' },
  });
  for (const name of ['a.txt', 'b.txt']) await write(name, TEXT);
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  ({ log } = opened.value);
});
afterEach(async () => {
  await headless.end();
  await server.stop();
});

const write = (path: string, text: string) => writeFile(join(headless.folder, path), text);

async function run(command: string): Promise<string> {
  server.restart(
    { calls: [{ id: `call-${Math.random()}`, name: 'run_command', arguments: { command } }] },
    { text: ['Done.'] },
  );
  expect((await headless.earshot.send(log.id, 'Go on.')).ok).toBe(true);
  await headless.earshot.settled(log.id);
  expect(headless.errors).toEqual([]);
  return server.requests.at(-1)?.body ?? '';
}

test.each(['grep -n needle a.txt b.txt', 'grep needle a.txt b.txt', 'cd . && grep -n needle a.txt b.txt | cat'])(
  'of the files that `%s` showed, a change of a shown line is reported and a change of another line is not',
  async (command) => {
    await run(command);
    expect(log.state.seen.get('a.txt')?.part).toEqual({ ranges: [[3, 3]], of: 6, searched: true });
    await write('a.txt', TEXT.replace('five', 'FIVE'));
    await write('b.txt', TEXT.replace('needle here', 'needle there'));
    // A request compares all seen files.
    const request = await run('true');
    expect(request).toContain('b.txt changed since you read it');
    expect(request).not.toContain('a.txt changed since you read it');
  },
);

test('lines that two searches showed are followed, also if the file changed in between', async () => {
  await run('grep -n needle a.txt b.txt');
  await write('a.txt', `zero\n${TEXT}`);
  await run('grep -n five a.txt b.txt');
  expect(log.state.seen.get('a.txt')?.part?.ranges).toEqual([
    [4, 4],
    [6, 6],
  ]);
});

test('lines are followed through changes before, behind, between and in them', () => {
  const follow = (after: string) => followLines('a\nb\nc\nd\n', after, [[2, 3]]);
  expect(follow('x\na\nb\nc\nd\n')).toEqual({ changes: '', ranges: [[3, 4]] });
  expect(follow('a\nb\nc\nx\nd\n')).toEqual({ changes: '', ranges: [[2, 3]] });
  expect(follow('a\nx\nb\nc\n')).toEqual({ changes: '', ranges: [[3, 4]] });
  expect(follow('a\nb\nx\nc\nd\n')).toEqual({ changes: '+x', ranges: [] });
  expect(follow('a\nb\ny\nd\n')).toEqual({ changes: '-c\n+y', ranges: [] });
});
