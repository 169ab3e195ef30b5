// Collects the instruction files: the user's own, those of the workspace, and those in the folders of
// seen files.
import { type Failure } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { decodeText } from '../../base/text.ts';
import { type UserFiles } from '../ports/userFiles.ts';
import { type FilePath, NOT_FOUND, type Workspace } from '../ports/workspace.ts';

/** File names in the root of a workspace folder. Of several files with the same text only the first is used. */
const AT_THE_ROOT = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'];
const NEAREST = 'AGENTS.md';
const USER_FILE = 'AGENTS.md';
/** Longer files are cut, because they take space in the context window. In characters. */
const LONGEST = 20_000;
/** Larger files are not read at all, since they cannot be instructions. In bytes. */
const LARGEST = 1024 * 1024;

interface InstructionText {
  readonly name: string;
  readonly text: string;
}

/** `text`: as in the system prompt, with a line that names the file. */
export interface Instruction extends InstructionText {
  /** It is for the files of a folder. The system prompt never has it: it is sent once a file of the folder is read. */
  readonly nested?: true;
}

/** Called for a file that exists but may not or cannot be read. The turn continues without it. */
export type Refused = (path: string, failure: Failure) => void;

/**
 * The instructions in force, the most general first: later ones are more specific and take precedence. `seen`: paths of
 * the files that the model has been shown.
 */
export async function readInstructions(
  workspace: Workspace,
  seen: Iterable<string>,
  userFiles: UserFiles | undefined,
  refused: Refused = () => undefined,
): Promise<Instruction[]> {
  const reading = userFiles?.read(USER_FILE);
  const atRoots = workspace.folders.flatMap((folder) => AT_THE_ROOT.map((name) => inside(folder, name)));
  const below = foldersBelow(workspace, seen).map(({ folder, path }) => inside(folder, `${path}/${NEAREST}`));
  const [user, ...files] = await Promise.all([
    reading,
    ...[...atRoots, ...below].map((file) => readText(workspace, file, refused)),
  ]);
  const found: InstructionText[] = [
    ...(user === undefined ? [] : [{ name: 'the user’s own file', text: user }]),
    ...files.filter((file) => file !== undefined),
  ];
  const nested = new Set(below.map(({ path }) => path));
  const texts = new Set<string>();
  return found.flatMap(({ name, text }) => {
    const trimmed = text.trim();
    if (trimmed === '' || texts.has(trimmed)) return [];
    texts.add(trimmed);
    const cut = trimmed.length > LONGEST ? `${trimmed.slice(0, LONGEST)}\n(The rest of it was left out.)` : trimmed;
    const head = `\nInstructions from ${printPath(name)}`;
    if (!nested.has(name)) return [{ name, text: `${head}:\n${cut}` }];
    const folder = printPath(name.slice(0, -NEAREST.length - 1));
    const scope = `, for files below ${folder} and before those of folders above it`;
    return [{ name, text: `${head}${scope}:\n${cut}`, nested: true }];
  });
}

/** Every folder between a root and a file that was seen, nearest last. */
function foldersBelow(workspace: Workspace, seen: Iterable<string>): { folder: FilePath; path: string }[] {
  const paths = new Set<string>();
  for (const file of seen) {
    const parts = file.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth++) paths.add(parts.slice(0, depth).join('/'));
  }
  return [...paths].sort(byDepth).flatMap((path) => {
    const folder = workspace.folders.find((root) => root.path === '' || path.startsWith(`${root.path}/`));
    if (folder === undefined) return [];
    return [{ folder, path: folder.path === '' ? path : path.slice(folder.path.length + 1) }];
  });
}

function byDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || (a < b ? -1 : 1);
}

function inside(folder: FilePath, name: string): FilePath {
  const path = folder.path === '' ? name : `${folder.path}/${name}`;
  return { path, absolute: `${folder.absolute.replace(/[\\/]$/, '')}/${name}` };
}

async function readText(workspace: Workspace, file: FilePath, refused: Refused): Promise<InstructionText | undefined> {
  const content = await workspace.read(file, { atMost: LARGEST });
  if (!content.ok) {
    if (content.failure.code !== NOT_FOUND) refused(file.path, content.failure);
    return undefined;
  }
  const text = decodeText(content.value.bytes);
  return text === undefined ? undefined : { name: file.path, text };
}

/** The instructions themselves, without the line that names their file. */
export function bodyOf(text: Instruction['text']): string {
  return text.replace(/^\n[^\n]*\n/, '');
}
