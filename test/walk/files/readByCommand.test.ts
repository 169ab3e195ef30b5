// File text printed by a command counts as read: the whole file or the printed lines, but never omitted output or
// protected files.
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const LINES = Array.from({ length: 30 }, (_, index) => `tea number ${index + 1}`);
const TEXT = `${LINES.join('\n')}\n`;

let headless: Headless;
let server: ScriptedServer;
let log: ConversationLog;

beforeEach(async () => {
  server = await startScriptedServer();
  headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' }),
    settings: { 'approvals.mode': 'all' },
  });
  await write('tea.txt', TEXT);
  await write('src/cups.txt', 'one cup\n');
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  ({ log } = opened.value);
});
afterEach(async () => {
  await headless.end();
  await server.stop();
});

async function write(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(join(headless.folder, path, '..'), { recursive: true });
  await writeFile(join(headless.folder, path), text);
}

async function call(name: string, args: Readonly<Record<string, unknown>>): Promise<string> {
  server.restart({ calls: [{ id: `call-${Math.random()}`, name, arguments: args }] }, { text: ['Done.'] });
  const sent = await headless.earshot.send(log.id, 'Go on.');
  expect(sent.ok).toBe(true);
  await headless.earshot.settled(log.id);
  expect(headless.errors).toEqual([]);
  const { messages } = JSON.parse(server.requests.at(-1)?.body ?? '{}') as { messages: { content: string }[] };
  return messages.at(-1)?.content ?? '';
}

const run = (command: string) => call('run_command', { command });

/** `whole`, the lines, or undefined if nothing counts as read. */
function seen(path: string) {
  const state = log.state.seen.get(path);
  return state && (state.part?.ranges ?? 'whole');
}

test.each([
  ['cat tea.txt', { 'tea.txt': 'whole' }],
  ['cat ./tea.txt src/cups.txt', { 'tea.txt': 'whole', 'src/cups.txt': 'whole' }],
  ['cd src && cat cups.txt ../tea.txt', { 'src/cups.txt': 'whole', 'tea.txt': 'whole' }],
  ['head -n 5 tea.txt', { 'tea.txt': [[1, 5]] }],
  ["sed -n '10,12p' tea.txt", { 'tea.txt': [[10, 12]] }],
  ['tail -n 3 tea.txt | cat', { 'tea.txt': [[28, 31]] }],
  ['grep "number 1[0-9]" tea.txt', { 'tea.txt': [[10, 19]] }],
  ['sort -r tea.txt', {}],
  ['cat -n tea.txt', {}],
  ['wc -l tea.txt', {}],
  ['echo nothing', {}],
])('`%s` marks exactly what it prints as read', async (command, expected) => {
  await run(command);
  expect(Object.fromEntries([...log.state.seen.paths()].map((path) => [path, seen(path)]))).toEqual(expected);
});

test('git show of the current state counts as read, of another state it does not', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { cwd: headless.folder });
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'Tea');
  await run('git show HEAD:tea.txt');
  expect(seen('tea.txt')).toBe('whole');
  await write('src/cups.txt', 'two cups\n');
  await run('git show HEAD:src/cups.txt');
  expect(seen('src/cups.txt')).toBeUndefined();
});

test('parts add up to the whole file, and only then may it be replaced', async () => {
  await run('head -n 20 tea.txt');
  expect(await call('write_file', { path: 'tea.txt', content: 'x\n' })).toContain(
    'You have seen only lines 1–20 of 31',
  );
  await run('tail -n 12 tea.txt');
  expect(seen('tea.txt')).toBe('whole');
  expect(await call('write_file', { path: 'tea.txt', content: 'x\n' })).not.toContain('Nothing was written');
});

test('a later change of a file read with cat is reported', async () => {
  await run('cat tea.txt');
  await write('tea.txt', TEXT.replace('number 7', 'number seven'));
  // A file that was read while it was written is left for a later request.
  const lastRequest = async () => {
    await call('list_files', {});
    return server.requests.at(-1)?.body;
  };
  await expect.poll(lastRequest).toContain('+tea number seven');
});

test('omitted text of a long output does not count as read', async () => {
  const long = `${Array.from({ length: 5000 }, (_, index) => `a rather long line of text with the number ${index}`).join('\n')}\n`;
  await write('long.txt', long);
  const shown = await run('cat long.txt');
  expect(shown).toContain('left out here');
  const ranges = seen('long.txt');
  if (typeof ranges !== 'object') throw new Error('expected ranges of lines');
  const lines = long.split('\n');
  expect(ranges).toHaveLength(2);
  for (const [first, last] of ranges) {
    for (const line of lines.slice(first - 1, last)) expect(shown).toContain(line);
  }
  expect(shown).not.toContain(`${lines[ranges[0]?.[1] ?? 0] ?? ''}\n`);
});

test('other line endings and a byte order mark count as read; binary, coloured or differently encoded output does not', async () => {
  await write('crlf.txt', TEXT.replaceAll('\n', '\r\n'));
  await write('marked.txt', `\uFEFF${TEXT}`);
  await write('binary.bin', Buffer.from([0, 1, 2, 10, 0, 1, 2, 10, 0]));
  await write('latin.txt', Buffer.from('grün\nschwarz\nweiß\n', 'latin1'));
  await write('coloured.txt', '\u001b[31mred\u001b[0m\ntea\ncup\n');
  for (const path of ['crlf.txt', 'marked.txt', 'binary.bin', 'latin.txt', 'coloured.txt']) await run(`cat ${path}`);
  expect([...log.state.seen.paths()]).toEqual(['crlf.txt', 'marked.txt']);
});

test('files that are protected, outside the workspace or not plain files are not compared', async () => {
  await write('.env', 'SECRET=1\nOTHER=2\nTHIRD=3\n');
  await symlink(join(headless.folder, '.env'), join(headless.folder, 'innocent.txt'));
  await writeFile(join(headless.folder, '..', 'outside.txt'), TEXT);
  execFileSync('mkfifo', [join(headless.folder, 'pipe')]);
  await symlink('pipe', join(headless.folder, 'link'));
  await run('cat .env innocent.txt ../outside.txt');
  await run('ls pipe link . src missing.txt');
  expect([...log.state.seen.paths()]).toEqual([]);
});
