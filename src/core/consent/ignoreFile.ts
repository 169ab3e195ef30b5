// Hides the files named by .earshotignore from the tools. The patterns work as in .gitignore.
import { decodeBytes } from '../../base/encodings.ts';
import { succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { parseIgnoreRules } from '../../base/patterns/ignoreRules.ts';
import { type HiddenFiles, NOT_FOUND, type Workspace } from '../ports/workspace.ts';
import { delegateWorkspace } from './delegateWorkspace.ts';

const IGNORE_FILE = '.earshotignore';

export type Hidden = HiddenFiles;

/** The last matching pattern decides; everything in a hidden folder is hidden. */
export function parseIgnore(text: string): Hidden {
  const rules = parseIgnoreRules(text);
  return {
    hides: (path) => {
      const walk = rules.start();
      // As in git, a hidden folder hides everything in it. Every name is treated as a folder, since it may be one.
      return path.split('/').some((name) => walk.step(name, true) === 'ignored');
    },
  };
}

const nothing: Hidden = { hides: () => false };
/** Larger than any file written by hand. */
const LONGEST = 1024 * 1024;
const KNOWN_TEXTS = 16;
const known = new Map<string, Hidden>();

/** Caches parsed rules, since every read of the workspace needs them. */
function parseKnown(text: string): Hidden {
  const parsed = known.get(text) ?? parseIgnore(text);
  if (known.size >= KNOWN_TEXTS) known.clear();
  known.set(text, parsed);
  return parsed;
}

/**
 * Read each time, since the file is small and a person may just have changed it. If rules exist but cannot be read,
 * everything is hidden: otherwise the files they should hide would be shown.
 */
export async function readHidden(workspace: Pick<Workspace, 'folders' | 'readLocally'>): Promise<Hidden> {
  const all = await Promise.all(
    workspace.folders.map(async ({ path, absolute }) => {
      const prefix = path === '' ? '' : `${path}/`;
      const file = { path: `${prefix}${IGNORE_FILE}`, absolute: `${absolute.replace(/[\\/]$/, '')}/${IGNORE_FILE}` };
      const content = await workspace.readLocally(file, { atMost: LONGEST });
      if (!content.ok && ABSENT.has(content.failure.code)) return undefined;
      const text = content.ok ? decodeBytes(content.value.bytes)?.text : undefined;
      if (text !== undefined) return { prefix, hidden: parseKnown(text) };
      const fault = content.ok ? `${file.path} is not a text file.` : content.failure.message;
      return { prefix, hidden: { fault, hides: () => true } };
    }),
  );
  const found = all.filter((one) => one !== undefined);
  if (found.length === 0) return nothing;
  const fault = found.map(({ hidden }) => hidden.fault).find((one) => one !== undefined);
  return {
    ...defined({ fault }),
    hides: (path) =>
      found.some(({ prefix, hidden }) => path.startsWith(prefix) && hidden.hides(path.slice(prefix.length))),
  };
}

/** Why the file is hidden; undefined if it is not. */
export function whyHidden({ fault, hides }: Hidden, path: string): string | undefined {
  if (!hides(path)) return undefined;
  if (fault === undefined) return `${path} is hidden by .earshotignore`;
  return `${path} is hidden, as everything is while .earshotignore cannot be used: ${fault.replace(/\.$/, '')}`;
}

/** Failure codes that mean there are no rules. */
const ABSENT: ReadonlySet<string> = new Set([NOT_FOUND, 'is_folder']);

/** The workspace as a tool sees it: without hidden files, except those that a person allowed. */
export function viewFor(
  workspace: Workspace,
  hidden: Hidden,
  letIn: ReadonlySet<string>,
  names: readonly string[] = [],
): Workspace {
  const admitted = workspace.admitting({ letIn, names, hidden });
  return delegateWorkspace(admitted, {
    list: async (folder) => {
      const entries = await admitted.list(folder);
      if (!entries.ok) return entries;
      const prefix = folder.path === '' ? '' : `${folder.path}/`;
      return succeeded(entries.value.filter((entry) => !hidden.hides(`${prefix}${entry.name}`)));
    },
  });
}
