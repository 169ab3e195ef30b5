// Hides the files that .earshotignore names from the tools; its patterns are those of .gitignore.
import { decodeBytes } from '../../base/encodings.ts';
import { succeeded } from '../../base/errors.ts';
import { parseIgnoreRules } from '../../base/patterns/ignoreRules.ts';
import { type HiddenFiles, NOT_FOUND, type Workspace } from '../ports/workspace.ts';
import { delegateWorkspace } from './delegateWorkspace.ts';

const IGNORE_FILE = '.earshotignore';

export type Hidden = HiddenFiles;

/** The last pattern that fits decides; what lies in a hidden folder is hidden with it. */
export function parseIgnore(text: string): Hidden {
  const rules = parseIgnoreRules(text);
  return {
    hides: (path) => {
      const walk = rules.start();
      // A folder's verdict holds for all in it, as in git. What may be a folder is taken for one.
      return path.split('/').some((name) => walk.step(name, true) === 'ignored');
    },
  };
}

const nothing: Hidden = { hides: () => false };
/** Larger than any that was written by hand. */
const LONGEST = 1024 * 1024;
const KNOWN_TEXTS = 16;
const known = new Map<string, Hidden>();

/** Every read of the workspace asks for the rules: what was parsed once is not parsed again. */
function parseKnown(text: string): Hidden {
  const parsed = known.get(text) ?? parseIgnore(text);
  if (known.size >= KNOWN_TEXTS) known.clear();
  known.set(text, parsed);
  return parsed;
}

/**
 * Read anew each time: it is a small file, and a person may just have changed it. Rules that are there and cannot be read
 * hide everything: otherwise what they were written for would be shown.
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
    ...(fault !== undefined && { fault }),
    hides: (path) =>
      found.some(({ prefix, hidden }) => path.startsWith(prefix) && hidden.hides(path.slice(prefix.length))),
  };
}

/** Undefined if it is not hidden. */
export function whyHidden({ fault, hides }: Hidden, path: string): string | undefined {
  if (!hides(path)) return undefined;
  if (fault === undefined) return `${path} is hidden by .earshotignore`;
  return `${path} is hidden, as everything is while .earshotignore cannot be used: ${fault.replace(/\.$/, '')}`;
}

/** There are no rules. */
const ABSENT: ReadonlySet<string> = new Set([NOT_FOUND, 'is_folder']);

/** The workspace as a tool sees it: without hidden files, with those that a person allowed. */
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
