// Writes the generated parts of package.json: commands, menus, settings and views.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withContributions } from '../../src/vscode/contributions/manifest.ts';
import { runToExit } from './lifetime.mjs';
import { repository } from './setup.mjs';

await runToExit(async () => {
  const path = join(repository, 'package.json');
  const text = await readFile(path, 'utf8');
  const generated = withContributions(text);
  if (generated !== text) await writeFile(path, generated);
  process.stdout.write(generated === text ? 'package.json is up to date.\n' : 'package.json was updated.\n');
  return 0;
});
