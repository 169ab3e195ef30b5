// Program plugins as the user sees them: the view with states, approval with command and hashes, log, restart.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const KETTLE = `#!/bin/sh
while IFS= read -r line; do
  case $line in
    *'"describe"'*) echo '{"type":"describe","name":"kettle","version":"1","description":"Boils water."}'; exit ;;
    '{"type":"init"'*) echo '{"type":"print","text":"The kettle is on."}' ;;
    *shutdown*) echo '{"type":"exit","code":0}'; exit ;;
  esac
done
`;

let temporary = '';
const workbench = useSharedWorkbench(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'earshot-kettle-'));
  const path = join(temporary, 'kettle.sh');
  await writeFile(path, KETTLE, { mode: 0o755 });
  return {
    settings: {
      'earshot.plugins.programs': {
        kettle: { command: [path], approve: true },
        denied: { command: ['/bin/true'], run: 'deny' },
      },
    },
  };
});
afterAll(() => rm(temporary, { recursive: true, force: true }));

test('a plugin is approved with its command and hash, run, shown as running, restarted and stopped', async () => {
  const { page } = workbench;
  await workbench.openChat();
  const head = page.getByRole('button', { name: /Program Plugins/ });
  await head.waitFor();
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click();
  const row = (name: RegExp) => page.getByRole('treeitem', { name });
  await row(/kettle, Not approved/).waitFor();
  await row(/denied, Denied by the settings/).waitFor();
  await workbench.screenshot('plugins-not-approved');
  await row(/^kettle, /).hover();
  await row(/^kettle, /)
    .getByRole('button', { name: 'Approve Program Plugin…' })
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/SHA-256 [0-9a-f]{64}/).waitFor();
  await workbench.screenshot('plugins-approval');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await row(/kettle, Not running/).waitFor();
  // A row that is being redrawn has no buttons for a moment.
  const asksForArguments = async () => {
    await page.keyboard.press('Escape');
    await row(/^kettle, /).hover();
    await row(/^kettle, /)
      .getByRole('button', { name: 'Run Plugin…' })
      .click({ timeout: 5000 });
    await page.getByText('Arguments for kettle').waitFor({ timeout: 5000 });
    return true;
  };
  await expect.poll(asksForArguments, { interval: 500 }).toBe(true);
  await page.keyboard.press('Enter');
  await row(/kettle, Running/).waitFor();
  await workbench.screenshot('plugins-running');
  await row(/^kettle, /).hover();
  await row(/^kettle, /)
    .getByRole('button', { name: 'Restart Program Plugin' })
    .click();
  await row(/kettle, Running/).waitFor();
  // While the plugin restarts, the buttons of the row change.
  const showsLog = async () => {
    await page.keyboard.press('Escape');
    await row(/^kettle, /).hover();
    await row(/^kettle, /)
      .getByRole('button', { name: 'Show Log of Program Plugin' })
      .click({ timeout: 5000 });
    await page.getByText('The kettle is on.').first().waitFor({ timeout: 5000 });
    return true;
  };
  await expect.poll(showsLog, { interval: 500 }).toBe(true);
  await workbench.screenshot('plugins-log');
  await row(/^kettle, /).hover();
  await row(/^kettle, /)
    .getByRole('button', { name: 'Stop Program Plugin' })
    .click();
  await row(/kettle, Not running/).waitFor();
  expect(await row(/^kettle, /).count()).toBe(1);
});
