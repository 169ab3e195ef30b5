// Decides which files that nobody has seen are not worth a word: what .gitignore names, and git's own folder.
import ignore, { type Ignore } from 'ignore';
import { decodeText } from '../base/text.ts';
import { type Workspace } from '../core/workspacePorts.ts';

const IGNORE_FILE = '.gitignore';
/** Rules of folders that were looked at; more are forgotten and read again. */
const MOST_FOLDERS = 2000;

export interface Exclusions {
  excludes(path: string): Promise<boolean>;
  /** Something happened to this file: if it holds rules, they are read again. */
  touched(path: string): void;
}

export function createExclusions(workspace: Workspace): Exclusions {
  const rules = new Map<string, Promise<Ignore | undefined>>();
  const rulesOf = (folder: string): Promise<Ignore | undefined> => {
    let known = rules.get(folder);
    if (known === undefined) {
      if (rules.size >= MOST_FOLDERS) rules.clear();
      known = readRules(workspace, folder);
      rules.set(folder, known);
    }
    return known;
  };
  return {
    excludes: async (path) => {
      const parts = path.split('/');
      if (parts.includes('.git')) return true;
      // From the outermost folder inwards: what an excluded folder holds is not looked at any more, as in git.
      for (let depth = 1; depth <= parts.length; depth++) {
        const candidate = depth < parts.length ? `${parts.slice(0, depth).join('/')}/` : path;
        if (await isIgnored(candidate, parts.slice(0, depth - 1), rulesOf)) return true;
      }
      return false;
    },
    touched: (path) => {
      if (path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`)) rules.clear();
    },
  };
}

/** The nearest rule that says anything decides. */
async function isIgnored(
  candidate: string,
  folders: readonly string[],
  rulesOf: (folder: string) => Promise<Ignore | undefined>,
): Promise<boolean> {
  for (let depth = folders.length; depth >= 0; depth--) {
    const folder = folders.slice(0, depth).join('/');
    const inner = folder === '' ? candidate : candidate.slice(folder.length + 1);
    const verdict = (await rulesOf(folder))?.test(inner);
    if (verdict?.ignored === true) return true;
    if (verdict?.unignored === true) return false;
  }
  return false;
}

async function readRules(workspace: Workspace, folder: string): Promise<Ignore | undefined> {
  // With several folders open, none of them is the outermost.
  if (folder === '' && workspace.folders.length > 1) return undefined;
  const file = await workspace.resolve(folder === '' ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`);
  const content = file.ok ? await workspace.readLocally(file.value) : undefined;
  const text = content?.ok === true ? decodeText(content.value.bytes) : undefined;
  return text === undefined ? undefined : ignore({ allowRelativePaths: true }).add(text);
}
