// A window of VS Code in German: the manifest, the bundle of the window and the strings of the page belong together.
import { expect, test } from 'vitest';
import { useWorkbench } from '../../support/workbench.ts';

const workbench = useWorkbench({ language: 'de' });

test('commands, status bar and chat are German in a German VS Code', async () => {
  // The title is from package.nls.de.json, the status bar from the bundle that `l10n` of the manifest names.
  await workbench.command('Earshot: Chat öffnen');
  const chat = workbench.chat();
  await chat.getByText('Hallo, ich bin Earshot.').waitFor();
  expect(await chat.locator('html').getAttribute('lang')).toBe('de');
  await chat.getByRole('button', { name: 'Freigaben: Bei Änderungen fragen' }).waitFor();
  await expect.poll(() => workbench.statusBar().getAttribute('aria-label')).toContain('Keine ausstehenden');
  await workbench.screenshot('german-window');
});
