// Generates from the contributions in the code the parts of package.json, the texts that it refers to by key, and the
// pages of the documentation that are tables of the code.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settingsPage, withKinds } from '../../src/vscode/contributions/docsPages.ts';
import { contributedTexts, translatedTexts, withContributions } from '../../src/vscode/contributions/manifest.ts';
import { settingsSafetyPage } from '../../src/vscode/contributions/settingsSafety.ts';
import { runToExit } from './processes/lifetime.mjs';
import { repository } from './setup.mjs';

await runToExit(async () => {
  const manifest = await readFile(join(repository, 'package.json'), 'utf8');
  const german = JSON.parse(await readFile(join(repository, 'src/vscode/contributions/german.json'), 'utf8')) as Record<
    string,
    string
  >;
  await update('package.json', withContributions(manifest));
  await update('package.nls.json', contributedTexts());
  await update('package.nls.de.json', translatedTexts(german));
  await update('docs/settings-safety.md', settingsSafetyPage());
  await update('docs/settings.md', settingsPage());
  await update('docs/notifications.md', withKinds(await readFile(join(repository, 'docs/notifications.md'), 'utf8')));
  return 0;
});

async function update(name: string, text: string): Promise<void> {
  const path = join(repository, name);
  const current = await readFile(path, 'utf8').catch(() => undefined);
  if (current !== text) await writeFile(path, text);
  process.stdout.write(`${name} ${current === text ? 'is up to date' : 'was updated'}.\n`);
}
