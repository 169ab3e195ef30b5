// The agent of another program on the hub, when the hub cannot be joined.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Mailbox } from '../../../src/hub/mcp/mailbox.ts';
import { atTestEnd } from '../../support/endings.ts';
import { realHubDeps } from '../../support/testHub.ts';

/** The workspace folder does not exist yet. */
async function createMailbox() {
  const home = await mkdtemp(join(tmpdir(), 'earshot-mailbox-'));
  atTestEnd(() => rm(home, { recursive: true, force: true }));
  const workspaceFolder = join(home, 'shop');
  const mailbox = new Mailbox({
    ...realHubDeps,
    workspaceFolder,
    home,
    allowedOrigins: [],
    role: '',
    all: false,
  });
  return { mailbox, workspaceFolder };
}

test('closing a mailbox that could not join the hub does not fail', async () => {
  const { mailbox } = await createMailbox();
  await expect(mailbox.check('tea')).rejects.toThrow('ENOENT');
  await mailbox.close();
});

test('closing a mailbox while joining fails does not fail either', async () => {
  const { mailbox } = await createMailbox();
  const checked = mailbox.check('tea').catch(() => 'failed');
  await mailbox.close();
  expect(await checked).toBe('failed');
});

test('a mailbox that could not join the hub tries again at the next request', async () => {
  const { mailbox, workspaceFolder } = await createMailbox();
  atTestEnd(() => mailbox.close());
  await expect(mailbox.check('tea')).rejects.toThrow('ENOENT');
  await mkdir(workspaceFolder);
  expect(await mailbox.check('tea')).toEqual({ ok: true, value: '' });
});
