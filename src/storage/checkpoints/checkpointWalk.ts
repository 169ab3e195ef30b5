// Captures a folder's files without git: walks it within limits and stores the files as snapshots.
import { createHash } from 'node:crypto';
import { type Dirent } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ignore } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { type IgnoreRules, type IgnoreVerdict, parseIgnoreRules } from '../../base/patterns/ignoreRules.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { decodeName, diskPath } from '../../node/files/rawNames.ts';
import { readRegular } from '../../node/files/readInside.ts';
import {
  type Candidate,
  type CheckpointFolder,
  type FolderDifference,
  LARGEST,
  sift,
  siftIgnored,
} from './checkpointFolder.ts';

/** With more files, nothing is captured: the files missing from a partial state would later seem new. */
const MOST_FILES = 20_000;
/** File times are coarse: files changed this recently are read again. */
const COARSE_MILLISECONDS = 2000;
/** Rules beyond this are not read. */
const LONGEST_RULES = 1024 * 1024;
const NEVER = new Set(['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__']);

export interface WalkFolderDeps {
  /** Storage of all checkpoints. */
  readonly storage: string;
  readonly folder: string;
  readonly snapshots: Snapshots;
}

const treeSchema = z.array(
  z.strictObject({
    path: z.string(),
    hash: z.string(),
    size: z.int(),
    /** Absent in data of earlier versions. */
    kind: z.enum(['plain', 'link', 'executable']).optional(),
    /** The permission bits of a file. */
    mode: z.int().optional(),
  }),
);
type Tree = z.infer<typeof treeSchema>;

export function openWalkFolder(deps: WalkFolderDeps): CheckpointFolder {
  const place = join(deps.storage, 'walk');
  /** State of each file at its last read, so that only changed files are read. */
  const known = new Map<string, { stamp: string; at: number; hash: string }>();

  const capture = async ({ path, stat }: Candidate): Promise<Tree[number] | undefined> => {
    const place = diskPath(join(deps.folder, path));
    if (stat.isSymbolicLink()) {
      const target = await readlink(place, 'buffer').catch(ignore);
      return target && { path, hash: await deps.snapshots.put(target), size: target.length, kind: 'link' };
    }
    if (!stat.isFile()) return undefined;
    const kind = (stat.mode & 0o111) === 0 ? 'plain' : 'executable';
    const mode = stat.mode & 0o7777;
    const stamp = `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`;
    const before = known.get(path);
    if (before?.stamp === stamp && before.at - stat.mtimeMs > COARSE_MILLISECONDS) {
      return { path, hash: before.hash, size: stat.size, kind, mode };
    }
    const at = Date.now();
    const bytes = await readRegular(place, LARGEST);
    if (bytes === undefined) return undefined;
    const hash = await deps.snapshots.put(bytes);
    known.set(path, { stamp, at, hash });
    return { path, hash, size: bytes.length, kind, mode };
  };
  const readTree = async (tree: string): Promise<ReadonlyMap<string, Tree[number]>> => {
    const text = await readFile(join(place, `${tree}.json`), 'utf8');
    return new Map(treeSchema.parse(JSON.parse(text)).map((file) => [file.path, file]));
  };
  const bytesOf = ({ hash, size, kind = 'plain', mode }: Tree[number]) => ({
    key: `sha256:${hash}`,
    size,
    ...(kind !== 'plain' && { kind }),
    ...defined({ mode }),
  });
  const readState = async (tree: string | undefined): ReturnType<typeof readTree> =>
    tree === undefined ? new Map() : readTree(tree);

  return {
    kind: 'walk',
    take: async (also, signal) => {
      const { files: found, ignored } = await walk(deps.folder, signal);
      const paths = new Set([...found, ...also]);
      const { fits, leftOut } = await sift(deps.folder, [...paths], signal);
      const small = await siftIgnored(
        deps.folder,
        ignored.filter((path) => !paths.has(path)),
        signal,
      );
      const files: Tree = [];
      for (const candidate of [...fits, ...small]) {
        signal.throwIfAborted();
        const file = await capture(candidate);
        if (file !== undefined) files.push(file);
      }
      const text = JSON.stringify(files.sort((a, b) => (a.path < b.path ? -1 : 1)));
      const tree = createHash('sha256').update(text).digest('hex');
      await mkdir(place, { recursive: true, mode: 0o700 });
      await writeFile(join(place, `${tree}.json`), text);
      return { tree, nested: [], leftOut };
    },
    keep: async () => undefined,
    compare: async (before, after) => {
      if (before === after) return [];
      const [old, now] = [await readState(before), await readState(after)];
      const differences: FolderDifference[] = [];
      for (const path of new Set([...old.keys(), ...now.keys()])) {
        const [was, is] = [old.get(path), now.get(path)];
        const isSame = (name: 'kind' | 'mode') => (was?.[name] ?? is?.[name]) === (is?.[name] ?? was?.[name]);
        if (was?.hash === is?.hash && isSame('kind') && isSame('mode')) continue;
        differences.push({ path, ...(was && { before: bytesOf(was) }), ...(is && { after: bytesOf(is) }) });
      }
      return differences;
    },
    read: async (keys) => {
      const found = new Map<string, Uint8Array>();
      for (const key of keys) {
        const bytes = key.startsWith('sha256:') ? await deps.snapshots.get(key.slice('sha256:'.length)) : undefined;
        if (bytes !== undefined) found.set(key, bytes);
      }
      return found;
    },
    forget: async () => 0,
    close: async () => undefined,
  };
}

/** Removes states that no checkpoint refers to. */
export async function cleanWalks(storage: string, trees: ReadonlySet<string>): Promise<void> {
  const place = join(storage, 'walk');
  for (const name of await readdir(place).catch(() => [])) {
    if (!trees.has(name.replace(/\.json$/, ''))) await rm(join(place, name), { force: true });
  }
}

interface Walked {
  readonly path: string;
  /** The rules of the .gitignore files in the folder and above, each with its folder, the outermost first. */
  readonly rules: readonly { readonly base: string; readonly rule: IgnoreRules }[];
}

async function walk(root: string, signal: AbortSignal): Promise<{ files: string[]; ignored: string[] }> {
  const files: string[] = [];
  const ignored: string[] = [];
  const folders: Walked[] = [{ path: '', rules: [] }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    signal.throwIfAborted();
    if (files.length > MOST_FILES) throw new Error(`there are more than ${MOST_FILES} files, and git is not installed`);
    const absolute = join(root, folder.path);
    const listed = { withFileTypes: true, encoding: 'buffer' } as const;
    const entries = await readdir(diskPath(absolute), listed).catch((): Dirent<Buffer>[] => []);
    const own = await readRegular(diskPath(join(absolute, '.gitignore')), LONGEST_RULES);
    const base = folder.path === '' ? '' : `${folder.path}/`;
    const rules =
      own === undefined
        ? folder.rules
        : [...folder.rules, { base, rule: parseIgnoreRules(Buffer.from(own).toString(), true) }];
    for (const entry of entries) {
      const name = decodeName(entry.name);
      const path = `${base}${name}`;
      const isFolder = entry.isDirectory();
      if (NEVER.has(name) || (!isFolder && !entry.isFile() && !entry.isSymbolicLink())) continue;
      if (isIgnored(rules, path, isFolder)) {
        if (!isFolder) ignored.push(path);
        continue;
      }
      if (isFolder) folders.push({ path, rules });
      else files.push(path);
    }
  }
  return { files, ignored };
}

/** The nearest .gitignore with a rule for the path decides; no folder above the path is ignored. */
function isIgnored(rules: Walked['rules'], path: string, isFolder: boolean): boolean {
  for (const { base, rule } of rules.toReversed()) {
    const walk = rule.start();
    const names = path.slice(base.length).split('/');
    let verdict: IgnoreVerdict;
    for (const [index, name] of names.entries()) verdict = walk.step(name, isFolder || index < names.length - 1);
    if (verdict !== undefined) return verdict === 'ignored';
  }
  return false;
}
