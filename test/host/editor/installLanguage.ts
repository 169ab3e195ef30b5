// Installs a language pack without translations of VS Code itself: its windows have that display language, and extensions
// show their own translations.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export async function installLanguage(language: string, serverData: string): Promise<void> {
  const folder = join(serverData, 'data');
  const translations = join(folder, `${language}.i18n.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(translations, JSON.stringify({ contents: {} }));
  const extensions = [{ extensionIdentifier: { id: `earshot-test.${language}` }, version: '1.0.0' }];
  const pack = { hash: 'test', label: language, extensions, translations: { vscode: translations } };
  await writeFile(join(folder, 'languagepacks.json'), JSON.stringify({ [language]: pack }));
}
