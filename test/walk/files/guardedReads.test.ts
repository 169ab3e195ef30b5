// Links to secrets, to ignored files or out of the workspace: none of their text reaches the endpoint, whichever
// component reads them.
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const SECRET = 'BEGIN PRIVATE KEY';
const end: ScriptedAnswer = { text: ['Done.'] };
const read = (id: string, path: string): ScriptedAnswer => ({
  calls: [{ id, name: 'read_file', arguments: { path } }],
});

async function put(walked: Walked, path: string, text: string): Promise<void> {
  const file = join(walked.headless.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

async function link(walked: Walked, path: string, to: string): Promise<void> {
  const file = join(walked.headless.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await symlink(to, file);
}

const bodies = ({ server }: Walked) => server.requests.map(({ body }) => body).join('\n');

test.each([true, false])(
  'instruction files and prompts that are links send no secret, the turn continues, and the user is notified once (trusted: %s)',
  async (trusted) => {
    const notices: string[] = [];
    const walked = await beginWalk([end, end], { trusted, ports: { notice: (text) => notices.push(text) } });
    const outside = join(dirname(walked.headless.folder), 'id_rsa');
    await writeFile(outside, SECRET);
    await put(walked, '.env', SECRET);
    await link(walked, 'AGENTS.md', outside);
    await link(walked, 'CLAUDE.md', '.env');
    await link(walked, '.github/copilot-instructions.md', '/proc/self/environ');
    await link(walked, '.github/prompts/plan.prompt.md', outside);
    await walked.go();
    await walked.go();
    expect(walked.server.requests).toHaveLength(2);
    expect(bodies(walked)).not.toContain(SECRET);
    expect(bodies(walked)).not.toMatch(/Instructions from [^…]/);
    expect(notices.sort()).toEqual([
      'The instructions in .github/copilot-instructions.md are not used: .github/copilot-instructions.md is or leads outside the workspace.',
      'The instructions in AGENTS.md are not used: AGENTS.md is or leads outside the workspace.',
      'The instructions in CLAUDE.md are not used: CLAUDE.md is a link, and .env is protected: .env may hold secrets.',
    ]);
    const { earshot } = walked.headless;
    expect(await earshot.send(walked.id, '/plan')).toMatchObject({ ok: false, failure: { code: 'outside' } });
    const attached = { attachments: [{ type: 'file' as const, path: 'CLAUDE.md' }] };
    expect(await earshot.send(walked.id, 'Look.', attached)).toMatchObject({
      ok: false,
      failure: { code: 'protected' },
    });
    expect(walked.server.requests).toHaveLength(2);
  },
);

test('a read file that becomes a link out of the workspace is reported without the text of its target', async () => {
  const walked = await beginWalk([read('a', 'notes.md'), end, end], { watching: true });
  await put(walked, 'notes.md', 'one\n');
  await walked.go();
  const outside = join(dirname(walked.headless.folder), 'secret.txt');
  await writeFile(outside, SECRET);
  const notified = queued(walked, 'notes.md');
  await symlink(outside, join(walked.headless.folder, 'swap'));
  await rename(join(walked.headless.folder, 'swap'), join(walked.headless.folder, 'notes.md'));
  expect(await notified).toMatch(
    /^notes\.md, which you read, was replaced by a link that leads outside the workspace, or lies in a folder that was.*\. Its content is not shown\.$/,
  );
  await walked.go();
  expect(bodies(walked)).toContain('leads outside the workspace');
  expect(bodies(walked)).not.toContain(SECRET);
});

test('a change of a protected file that the user approved to read is reported without its text', async () => {
  const walked = await beginWalk([read('a', '.env'), end, end], { watching: true });
  await put(walked, '.env', 'TOKEN=1\n');
  walked.headless.frontend.answer = async () => ({ action: 'approve', by: 'user' });
  await walked.go();
  expect(bodies(walked)).toContain('TOKEN=1');
  const notified = queued(walked, '.env');
  await put(walked, '.env', `TOKEN=${SECRET}\n`);
  expect(await notified).toMatch(
    /^\.env, which you read, changed \(\.env is protected: \.env may hold secrets\).*\. Its content is not shown\.$/,
  );
  await walked.go();
  expect(bodies(walked)).not.toContain(SECRET);
});

test('a path that becomes a link during an approval for another reason is refused', async () => {
  const walked = await beginWalk([read('a', 'notes.md'), end], { settings: { 'approvals.mode': 'ask' } });
  await put(walked, '.env', SECRET);
  await put(walked, 'notes.md', 'one\n');
  walked.headless.frontend.answer = async () => {
    await rm(join(walked.headless.folder, 'notes.md'));
    await link(walked, 'notes.md', '.env');
    return { action: 'approve', by: 'user' };
  };
  await walked.go();
  expect(bodies(walked)).not.toContain(SECRET);
  expect(bodies(walked)).toContain('notes.md is a link, and .env is protected');
});

/** The message of the next notification of this file. */
function queued({ log }: Walked, path: string): Promise<string> {
  return new Promise((resolve) => {
    const listening = log.onDidAppend(({ event }) => {
      if (event.type !== 'notification_queued' || event.notification.subject !== `file:${path}`) return;
      listening.dispose();
      resolve(event.notification.message);
    });
  });
}
