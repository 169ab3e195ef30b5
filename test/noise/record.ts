// Records what the sources of a real VS Code report during an hour of ordinary work. `npm run record` writes
// recording.jsonl next to this file in real time; `npm run record -- FASTER FILE` tries the script with shorter pauses.
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { build } from '../host/packaging/build.ts';
import { newTemporaryFolder } from '../host/install/cache.mjs';
import { runInsideEditor } from '../host/editor/insideEditor.ts';
import { runToExit } from '../host/processes/lifetime.mjs';
import { repository } from '../host/setup.mjs';
import type { RecordingOptions } from './inside.ts';
import { createShop, gitEnvironment } from './shop.ts';

const LONGEST = 90 * 60_000;
/** Terminals find tsc and biome as after an ordinary installation; the PATH of a login shell comes after that. */
const tools = [join(repository, 'node_modules', '.bin'), dirname(process.execPath)].join(delimiter);
const settings = {
  'terminal.integrated.env.linux': { PATH: `${tools}${delimiter}\${env:PATH}` },
  'editor.formatOnSave': true,
  // The editor must insert exactly the typed text; only the formatter may change it.
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoSurround': 'never',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'typescript.updateImportsOnFileMove.enabled': 'always',
};

await runToExit(record);

async function record(): Promise<number> {
  const [faster = '1', kept = join(import.meta.dirname, 'recording.jsonl')] = process.argv.slice(2);
  const temporary = await newTemporaryFolder();
  const { folder, colleague } = await createShop(temporary);
  await build();
  await build('--tests');
  const file = join(temporary, 'recording.jsonl');
  const options: RecordingOptions = {
    file,
    faster: Number(faster),
    colleague,
    // Paths of this machine that must not be in the recording.
    masks: [
      [folder, '/shop'],
      [temporary, '/temporary'],
      [repository, '/tools'],
      [dirname(dirname(process.execPath)), '/node'],
    ],
    start: await readAll(folder),
  };
  const exitCode = await runInsideEditor({
    folder,
    extension: repository,
    tests: join(repository, '.build', 'vscode-tests', 'record.cjs'),
    dataDir: join(temporary, 'data'),
    settings,
    longestMilliseconds: LONGEST,
    env: { ...gitEnvironment, EARSHOT_RECORDING: JSON.stringify(options) },
  });
  if (exitCode === 0) await copyFile(file, kept);
  return exitCode;
}

async function readAll(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (!entry.isFile() || /^(\.git|vendor)\//.test(path)) continue;
    files[path] = await readFile(join(folder, path), 'utf8');
  }
  return files;
}
