// Follows the README's section “Try it” word by word: each request that it tells the reader to type does what it says.
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench();
const file = (path: string) => join(workbench.folder, path);
/** The time that language servers and compilers need varies widely. */
const PATIENCE = 180_000;

const readme = await readFile(resolve(import.meta.dirname, '../../README.md'), 'utf8');
const start = readme.split(/^## /m).find((section) => section.startsWith('Try it\n')) ?? '';
/** What the reader types, in the README's order. */
const [fix = '', read = '', ...more] = [...start.matchAll(/\btype `([^`]+)`/g)].map(([, typed = '']) => typed);

beforeEach(async () => {
  await workbench.openChat();
  await workbench.reset();
});

test('the README names two requests to type and a button of the chat', async () => {
  expect([fix, read, ...more]).toEqual([expect.stringMatching(/^fix /), expect.stringMatching(/^read /)]);
  const [, button = ''] = /Click \*([^*]+)\*/.exec(start) ?? [];
  await workbench.chat().getByRole('button', { name: button, exact: true }).waitFor();
});

test('the first request of the README fixes the sample’s error, and the task that it runs then passes', {
  timeout: 4 * PATIENCE,
}, async () => {
  const before = await readFile(file('src/receipt.ts'), 'utf8');
  await workbench.say(fix);
  const card = workbench.card('Quick fix src/receipt.ts').filter({ hasText: 'Needs approval' });
  await card.getByRole('button', { name: 'Approve', exact: true }).click({ timeout: PATIENCE });
  const task = workbench.card('Run task check');
  await task.getByRole('button', { name: 'Approve', exact: true }).click({ timeout: PATIENCE });
  const transcript = workbench.transcript();
  await transcript.getByText('Passed: the task check').waitFor({ timeout: PATIENCE });
  await workbench.settled();
  await transcript.getByText('I applied 1 fix of the editor').waitFor();
  await transcript.getByText('No error is reported now.').waitFor();
  expect(await readFile(file('src/receipt.ts'), 'utf8')).not.toBe(before);
  await workbench.screenshot('readme-fixed');
});

test('the second request of the README reports the file that is changed while its command runs', async () => {
  const [, path = ''] = /change and save `([^`]+)`/.exec(start) ?? [];
  await workbench.say(read);
  await workbench.card(/^Run /).getByRole('button', { name: 'Approve', exact: true }).click();
  await writeFile(file(path), `${await readFile(file(path), 'utf8')}\n// Changed by hand.\n`);
  await workbench.chat().getByRole('button', { name: 'Pending notifications 1' }).waitFor();
  await workbench.settled();
  const transcript = workbench.transcript();
  await transcript.getByText('I was notified meanwhile:').waitFor();
  expect(await transcript.innerText()).toContain('+// Changed by hand.');
});
