// Decides which unseen files are not reported: those that .gitignore excludes, and git's own folder.
import {
  type IgnoreRules,
  type IgnoreVerdict,
  type IgnoreWalk,
  parseIgnoreRules,
} from '../../base/patterns/ignoreRules.ts';
import { decodeText } from '../../base/text.ts';
import { type Workspace } from '../../core/ports/workspace.ts';

const IGNORE_FILE = '.gitignore';
/** How many folders' rules are cached. */
const MOST_FOLDERS = 2000;
/** Deeper paths are excluded, since the rules of every folder on the way would have to be read. */
const DEEPEST = 200;

export interface Exclusions {
  excludes(path: string): Promise<boolean>;
  /** Called when this file was touched: if it contains rules, they are read again. */
  touched(path: string): void;
}

export function createExclusions(workspace: Workspace): Exclusions {
  const rules = new Map<string, Promise<IgnoreRules | undefined>>();
  const rulesOf = (folder: string): Promise<IgnoreRules | undefined> => {
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
      if (parts.includes('.git') || parts.length > DEEPEST) return true;
      // From the outermost folder inwards: as in git, rules cannot include what is in an excluded folder.
      const walks: IgnoreWalk[] = [];
      let folder = '';
      for (const [index, name] of parts.entries()) {
        const own = await rulesOf(folder);
        if (own !== undefined) walks.unshift(own.start());
        if (verdictOf(walks, name, index < parts.length - 1) === 'ignored') return true;
        folder = folder === '' ? name : `${folder}/${name}`;
      }
      return false;
    },
    touched: (path) => {
      if (path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`)) rules.clear();
    },
  };
}

/** The nearest matching rule decides. All walks must advance. */
function verdictOf(nearestFirst: readonly IgnoreWalk[], name: string, isFolder: boolean): IgnoreVerdict {
  return nearestFirst.map((walk) => walk.step(name, isFolder)).find((verdict) => verdict !== undefined);
}

async function readRules(workspace: Workspace, folder: string): Promise<IgnoreRules | undefined> {
  // With several folders open, there is no outermost folder.
  if (folder === '' && workspace.folders.length > 1) return undefined;
  const file = await workspace.resolve(folder === '' ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`);
  const content = file.ok ? await workspace.readLocally(file.value) : undefined;
  const text = content?.ok === true ? decodeText(content.value.bytes) : undefined;
  return text === undefined ? undefined : parseIgnoreRules(text, true);
}
