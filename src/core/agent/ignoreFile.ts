// Decides which files .earshotignore hides from the tools: the same patterns as .gitignore.
import { succeeded } from '../../base/errors.ts';
import { parseIgnoreRules } from '../../base/ignoreRules.ts';
import { decodeText } from '../../base/text.ts';
import { type Workspace } from '../workspacePorts.ts';

const IGNORE_FILE = '.earshotignore';

export interface Hidden {
  /** `path` as in FilePath. */
  hides(path: string): boolean;
}

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

/** Read anew each time: it is a small file, and a person may just have changed it. */
export async function readHidden(workspace: Workspace): Promise<Hidden> {
  const all = await Promise.all(
    workspace.folders.map(async ({ path, absolute }) => {
      const prefix = path === '' ? '' : `${path}/`;
      const file = { path: `${prefix}${IGNORE_FILE}`, absolute: `${absolute.replace(/[\\/]$/, '')}/${IGNORE_FILE}` };
      const content = await workspace.read(file);
      const text = content.ok ? decodeText(content.value.bytes) : undefined;
      return text === undefined ? undefined : { prefix, hidden: parseIgnore(text) };
    }),
  );
  const found = all.filter((one) => one !== undefined);
  if (found.length === 0) return nothing;
  return {
    hides: (path) =>
      found.some(({ prefix, hidden }) => path.startsWith(prefix) && hidden.hides(path.slice(prefix.length))),
  };
}

/** The workspace as a tool sees it: without what is hidden, with what a person let in; the rest as it is. */
export function viewFor(workspace: Workspace, hidden: Hidden, letIn: ReadonlySet<string>): Workspace {
  const view = Object.create(workspace) as { -readonly [K in keyof Workspace]: Workspace[K] };
  view.resolve = (path) => workspace.resolve(path, { anywhere: letIn.has(path) });
  view.list = async (folder) => {
    const entries = await workspace.list(folder);
    if (!entries.ok) return entries;
    const prefix = folder.path === '' ? '' : `${folder.path}/`;
    return succeeded(entries.value.filter((entry) => !hidden.hides(`${prefix}${entry.name}`)));
  };
  return view;
}
