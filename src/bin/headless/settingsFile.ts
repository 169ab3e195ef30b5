// Settings of Earshot from a JSON file, for programs without an editor.
import { readFile } from 'node:fs/promises';
import { parseJsonc } from '../../base/json/jsonc.ts';

const PREFIX = 'earshot.';

/** By their names without `earshot.`. `option` is named if the file is no JSON object. */
export async function readSettingsFile(path: string, option: string): Promise<Record<string, unknown>> {
  const parsed = parseJsonc(await readFile(path, 'utf8'));
  if (typeof parsed !== 'object' || parsed === null) throw new Error(`${option}: ${path} has no JSON object.`);
  const entries = Object.entries(parsed).filter(([name]) => name.startsWith(PREFIX));
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(PREFIX.length), value]));
}
