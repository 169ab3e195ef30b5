// Tests the VSIX package: its content, and the first minutes of a new user.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../host/setup.mjs';
import { makeVsix } from '../host/packaging/vsix.ts';
import { useWorkbench } from '../support/workbench.ts';

const file = join(repository, '.build', 'earshot.vsix');
const workbench = useWorkbench(async () => {
  await makeVsix(file, () => undefined);
  // As on a desktop; by default the test settings hide the secondary side bar.
  return { installed: file, settings: { 'workbench.secondarySideBar.defaultVisibility': null } };
});

/** The files that may ship, and `.vsixmanifest`, which VS Code adds on installation. */
const ALLOWED = [
  /^(package\.json|package\.nls(\.de)?\.json|readme\.md|changelog\.md|LICENSE\.txt|ThirdPartyNotices\.txt|\.vsixmanifest)$/,
  /^dist\/(extension\.js|hub\.js|hub-mcp\.js|ears\.js|notifications-(?:mcp|hook)\.js|earshot-notify\.js|webChat\.js|acp\.js|pdfText\.js|firstCapture\.js|supervisor\.cjs|webview\/[\w-]+\.js|chunks\/[\w-]+\.js)$/,
  /^media\/([a-z-]+\.(css|svg|png)|models\.json|readme\/[a-z]+\.png|l10n\/bundle\.l10n\.de\.json)$/,
  /^docs\/[a-z-]+\.md$/,
];

async function installed(): Promise<{ folder: string; files: string[] }> {
  const extensions = join(workbench.dataFolder, 'extensions');
  const name = (await readdir(extensions)).find((one) => one.startsWith('earshot.earshot-'));
  const folder = join(extensions, name ?? '');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return { folder, files: files.map((path) => path.slice(folder.length + 1).replaceAll('\\', '/')) };
}

test('the tour leads by clicks alone to the chip of a delivery, and the Explorer stays visible', async () => {
  const started = Date.now();
  await workbench.chat().locator('.welcome').waitFor();
  await workbench.screenshot('first-open');
  await workbench.chat().getByRole('button', { name: 'Take the tour' }).click();
  const question = workbench.card(/^Question: Open README\.md/);
  await question.getByText('Change it for me').click();
  await question.getByRole('button', { name: 'Answer', exact: true }).click();
  const command = workbench.card(/^Run echo/);
  await command.getByRole('button', { name: 'Approve' }).click();
  await command.getByRole('button', { name: /File changed · README\.md/ }).waitFor();
  expect(Date.now() - started).toBeLessThan(90_000);
  await workbench.settled();
  await workbench.transcript().getByText('README.md was changed, and I was notified').waitFor();
  await workbench.transcript().getByText('That was the tour.').waitFor();
  expect(await workbench.page.locator('.explorer-folders-view').isVisible()).toBe(true);
  await workbench.screenshot('first-chip');
});

test('the package contains only allowed files and has at most 2 MB', async () => {
  const { files } = await installed();
  expect(files.filter((path) => !ALLOWED.some((allowed) => allowed.test(path)))).toEqual([]);
  for (const needed of [
    'readme.md',
    'changelog.md',
    'LICENSE.txt',
    'dist/supervisor.cjs',
    'dist/firstCapture.js',
    'dist/hub.js',
    'dist/acp.js',
    'dist/pdfText.js',
    'media/models.json',
    'dist/hub-mcp.js',
    'dist/notifications-hook.js',
    'dist/notifications-mcp.js',
    'dist/earshot-notify.js',
    'dist/webChat.js',
    'dist/webview/web.js',
    'media/web.css',
    'media/icon.png',
  ])
    expect(files).toContain(needed);
  expect((await stat(file)).size).toBeLessThanOrEqual(2 * 1024 * 1024);
});

test('the package contains the licence texts of all bundled code', async () => {
  const notices = await readFile(join((await installed()).folder, 'ThirdPartyNotices.txt'), 'utf8');
  const { dependencies } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const named = notices.split(/^-{80}$/m).map((part) => part.trim().split('\n')[0] ?? '');
  for (const [name, version] of Object.entries(dependencies))
    expect(named).toContainEqual(expect.stringMatching(new RegExp(`^${RegExp.escape(`${name} ${version} (`)}`)));
  const texts = notices.split(/^-{80}$/m).slice(1);
  expect(
    texts.filter(
      (text) => !/permission|redistribution|licensed under|apache license|free and unencumbered/i.test(text),
    ),
  ).toEqual([]);
});

test('the installed extension answers a message, runs an approved command and shows its output', async () => {
  await workbench.openChat();
  await workbench.say('run echo installed-$((6*7))');
  const card = workbench.card(/echo installed/);
  await card.getByRole('button', { name: 'Approve', exact: true }).click();
  await workbench.settled();
  await workbench.transcript().getByText('installed-42').first().waitFor();
});

test('the images and links of the README are in the package, and the editor shows the README', async () => {
  const { folder, files } = await installed();
  const readme = await readFile(join(folder, 'readme.md'), 'utf8');
  const links = [...readme.matchAll(/\]\((?!#|[a-z]+:)([^)]+)\)/g)].map(([, path]) => path);
  expect(links.length).toBeGreaterThan(1);
  expect(links.filter((path) => !files.includes(path ?? ''))).toEqual([]);
  const { page } = workbench;
  await workbench.command('Extensions: Show Installed Extensions');
  await page.locator('.extensions-list .monaco-list-row', { hasText: 'Earshot' }).first().click();
  const shown = page.locator('iframe.webview').last().contentFrame().locator('#active-frame').contentFrame();
  await shown.getByRole('heading', { name: 'Try it' }).waitFor();
});
