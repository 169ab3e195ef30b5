// Captures a folder's files with git, in a separate index and object store, never in the user's.
import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ignore, Sequence } from '../../base/async.ts';
import { splitNames } from '../../node/files/rawNames.ts';
import { GitExit, runGit } from '../../node/runGit.ts';
import {
  type Candidate,
  type CheckpointFolder,
  type FolderDifference,
  folderName,
  inBatches,
  joined,
  siftIgnored,
  siftInSlices,
  type TakenFolder,
} from './checkpointFolder.ts';
import { entriesOf, insideOf, noting, type Blob, blobOf } from './checkpointListing.ts';
import { CheckpointModes, MODES_NAME } from './checkpointModes.ts';
import { type CaptureRoot, copyIndex, preparePlace } from './checkpointPlace.ts';
import { CheckpointStore } from './checkpointStore.ts';
import { setImmediate } from 'node:timers/promises';
import { defined } from '../../base/json/defined.ts';
import { renameFile } from '../../node/files/renameFile.ts';

/** Paths passed to git in one call. */
const BATCH = 4000;

/** Git knows this object without storing it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git compares times by the second: changes of a file's permissions may go unnoticed within it. */
const COARSE_MILLISECONDS = 2000;
/** So many files that changed within that time are looked at again. */
const MOST_RECENT = 20_000;

export interface GitFolderDeps {
  /** Storage of all checkpoints. */
  readonly storage: string;
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Reports failures of background work, and files that cannot be captured. */
  report(what: string, error: unknown): void;
}

/** Undefined if there is no git. */
export async function openGitFolder(deps: GitFolderDeps): Promise<CheckpointFolder | undefined> {
  const { folder, signal } = deps;
  await mkdir(deps.storage, { recursive: true, mode: 0o700 });
  const version = await runGit(['--version'], { folder: deps.storage, signal }).catch(ignore);
  if (version === undefined) return undefined;
  const name = folderName(folder);
  const place = join(deps.storage, 'git', name);
  const { root, prefix } = await preparePlace(place, folder, signal);
  const store = new CheckpointStore({ place, root, name, report: deps.report });
  return new GitFolder({ root, prefix, store, report: deps.report });
}

interface Deps extends CaptureRoot, Pick<GitFolderDeps, 'report'> {
  readonly store: CheckpointStore;
}

/** The changes since the last capture, as paths below the root. */
interface Changes {
  changed(): Iterable<string>;
  /** Those of `changed` that the index has. */
  readonly known: ReadonlySet<string>;
  readonly gone: readonly string[];
  readonly nested: readonly string[];
}

class GitFolder implements CheckpointFolder {
  readonly kind = 'git';
  readonly #deps: Deps;
  readonly #store: CheckpointStore;
  /** Ignored files that are in the index. */
  readonly #also = new Set<string>();
  /** Files that git refused; each is reported once. */
  readonly #refused = new Set<string>();
  /** Files that had changed right before they were captured. */
  #recent: readonly string[] = [];
  /** The last captured state, and the index that has it: another window may have replaced the index since. */
  #last: { readonly tree: string; readonly index: string } | undefined;
  readonly #captures = new Sequence();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#store = deps.store;
  }

  take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder> {
    return this.#captures.run(() => this.#take(also, signal));
  }

  /** Works on a copy that then replaces the index, since two windows may do this at once. */
  async #take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder> {
    const { index } = this.#store;
    const copy = `${index}.${randomUUID()}`;
    const before = await identityOf(index);
    const isFirst = !(await copyIndex(index, copy));
    try {
      return await this.#takeWith(copy, isFirst, before, also, signal);
    } catch (error) {
      this.#last = undefined;
      // A repository can make git wait for its objects.
      if (isFirst && !signal.aborted) await this.#store.stopBorrowing();
      throw error;
    } finally {
      await rm(copy, { force: true });
      await rm(`${copy}.lock`, { force: true });
    }
  }

  async #takeWith(
    copy: string,
    isFirst: boolean,
    identity: string,
    also: readonly string[],
    signal: AbortSignal,
  ): Promise<TakenFolder> {
    const { root, prefix } = this.#deps;
    const [{ changed, known, gone, nested }, ignored, modes] = await Promise.all([
      this.#findChanges(copy, isFirst, signal),
      this.#findIgnored(copy, signal),
      isFirst ? new CheckpointModes() : this.#modesIn(copy, signal),
    ]);
    const isNested = (path: string) => nested.some((folder) => path.startsWith(`${folder}/`));
    const more = also
      .map((path) => join(prefix, path).split(sep).join('/'))
      .filter((path) => !this.#also.has(path) && !isNested(path));
    const leftOut: string[] = [];
    const small = await siftIgnored(root, ignored, signal);
    const present = new Set<string>();
    const recent: string[] = [];
    const since = Date.now() - COARSE_MILLISECONDS;
    const note = ({ path, stat: found }: Candidate) => {
      if (known.has(path)) present.add(path);
      if (found.isSymbolicLink()) modes.forget(insideOf(prefix, path));
      else modes.note(insideOf(prefix, path), found.mode);
      if (found.ctimeMs >= since && recent.length < MOST_RECENT) recent.push(path);
    };
    const sifted = noting(siftInSlices(root, joined(changed(), more), signal, leftOut), note);
    for (const candidate of small) note(candidate);
    const adding = inBatches(sifted, small, BATCH);
    const first = await adding.next();
    const unreadable: string[] = [];
    // With nothing to add, all files were checked, so the list of left-out files is complete.
    const hasChanges = first.done !== true || gone.length > 0 || present.size < known.size;
    if (hasChanges || this.#last?.index !== identity) {
      if (first.done !== true) unreadable.push(...(await this.#add(first.value, copy, isFirst, signal)));
      for await (const add of adding) unreadable.push(...(await this.#add(add, copy, isFirst, signal)));
      // Otherwise the earlier state of a file that is now left out or replaced by a folder would count as present.
      const removed = [...new Set([...gone, ...[...known].filter((path) => !present.has(path))])];
      await this.#finish(copy, removed, modes, signal);
      for (const path of more) this.#also.add(path);
      this.#recent = recent;
    }
    const tree = this.#last?.tree ?? '';
    const inside = (paths: readonly string[]) => paths.map((path) => insideOf(prefix, path));
    return { tree, nested: inside(nested), leftOut: inside([...leftOut, ...unreadable]) };
  }

  /** Files that differ from the index, or may do so. */
  async #findChanges(index: string, isFirst: boolean, signal: AbortSignal): Promise<Changes> {
    const store = this.#store;
    // Lists also the files of which only times or permissions have changed.
    const compare = ['diff-files', '--raw', '-z', '--no-renames', ...this.#limits];
    const [listed, compared] = await Promise.all([
      store.git(['ls-files', '-z', '-t', '-o', '--exclude-standard', ...this.#limits], signal, { index }),
      isFirst ? Buffer.alloc(0) : store.git(compare, signal, { index }),
    ]);
    const known = new Set<string>();
    const gone = new Set<string>();
    const nested: string[] = [];
    const parts = splitNames(compared);
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const path = parts[at + 1] ?? '';
      if (path !== this.#modesPath) (parts[at]?.endsWith(' D') === true ? gone : known).add(path);
    }
    for (const path of this.#recent) if (!gone.has(path)) known.add(path);
    for (const { path } of entriesOf(listed)) if (path.endsWith('/')) nested.push(path.slice(0, -1));
    // Parsed on demand and never held as a whole, since the first listing contains every file.
    const changed = function* () {
      yield* known;
      for (const { path } of entriesOf(listed)) if (!path.endsWith('/') && !known.has(path)) yield path;
    };
    return { changed, known, gone: [...gone], nested };
  }

  /** Ignored files outside the index whose folders are not ignored. */
  async #findIgnored(index: string, signal: AbortSignal): Promise<readonly string[]> {
    const asked = ['ls-files', '-z', '-t', '-o', '-i', '--exclude-standard', '--directory', ...this.#limits];
    const listed = await this.#store.git(asked, signal, { index });
    return Array.from(entriesOf(listed), ({ path }) => path).filter((path) => !path.endsWith('/'));
  }

  get #limits(): readonly string[] {
    return this.#deps.prefix === '' ? [] : ['--', this.#deps.prefix];
  }

  get #modesPath(): string {
    return this.#deps.prefix === '' ? MODES_NAME : `${this.#deps.prefix}/${MODES_NAME}`;
  }

  async #modesIn(index: string, signal: AbortSignal): Promise<CheckpointModes> {
    return (await readModes(this.#store, `:${this.#modesPath}`, signal, index)) ?? new CheckpointModes();
  }

  /** Completes the copy of the index, writes its tree, and replaces the index. */
  async #finish(copy: string, removed: readonly string[], modes: CheckpointModes, signal: AbortSignal): Promise<void> {
    const { prefix } = this.#deps;
    const store = this.#store;
    if (removed.length > 0) {
      const args = ['update-index', '--force-remove', '-z', '--stdin'];
      await store.git(args, signal, { index: copy, paths: removed });
      for (const path of removed) modes.forget(insideOf(prefix, path));
    }
    if (modes.changed) {
      const oid = await store.git(['hash-object', '-w', '--stdin'], signal, { input: modes.toString() });
      const entry = `100644,${oid.toString().trim()},${this.#modesPath}`;
      await store.git(['update-index', '--add', '--cacheinfo', entry], signal, { index: copy });
    }
    const hasFiles =
      prefix === '' || (await store.git(['ls-files', '-z', ...this.#limits], signal, { index: copy })).length > 0;
    const part = prefix === '' ? [] : [`--prefix=${prefix}/`];
    const tree = hasFiles
      ? (await store.git(['write-tree', ...part], signal, { index: copy })).toString().trim()
      : EMPTY_TREE;
    await renameFile(copy, store.index);
    this.#last = { tree, index: await identityOf(store.index) };
  }

  /**
   * An unreadable file must not prevent the capture of the others. A file counts as unreadable if git refuses it twice:
   * packing, also by another window, may remove the folder of an object just before git writes into it.
   */
  async #add(
    paths: readonly string[],
    index: string,
    borrow: boolean,
    signal: AbortSignal,
    isRefused = false,
  ): Promise<readonly string[]> {
    try {
      // Only the first capture borrows the repository's objects.
      const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'];
      await this.#store.git(args, signal, { index, paths, borrow });
      return [];
    } catch (error) {
      signal.throwIfAborted();
      // Without an exit code it is not about a file.
      if (!(error instanceof GitExit) || /No space left|Disk quota/i.test(error.message)) throw error;
      if (paths.length === 1) {
        if (!isRefused) return await this.#add(paths, index, borrow, signal, true);
        const [path = ''] = paths;
        if (!this.#refused.has(path)) {
          this.#deps.report(`${path} cannot be captured, so its changes are not listed`, error);
        }
        this.#refused.add(path);
        return paths;
      }
      const half = Math.ceil(paths.length / 2);
      const first = await this.#add(paths.slice(0, half), index, borrow, signal);
      return [...first, ...(await this.#add(paths.slice(half), index, borrow, signal))];
    }
  }

  keep(name: string, tree: string, signal: AbortSignal): Promise<void> {
    return this.#store.keep(name, tree, signal);
  }

  async compare(
    before: string | undefined,
    after: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly FolderDifference[]> {
    return before === after ? [] : compareTrees(this.#store, before ?? EMPTY_TREE, after ?? EMPTY_TREE, signal);
  }

  read(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>> {
    return this.#store.read(keys, signal);
  }

  forget(needed: (name: string) => boolean, signal: AbortSignal): Promise<number> {
    return this.#store.forget(needed, signal);
  }

  async close(): Promise<void> {
    const closed = this.#store.close();
    await this.#captures.settled();
    await closed;
  }
}

/** Distinguishes an index from one that another window wrote; empty if there is none. */
async function identityOf(index: string): Promise<string> {
  return stat(index).then(
    ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
    () => '',
  );
}

/** Files processed before yielding to the event loop. */
const SLICE = 1000;

async function compareTrees(
  store: CheckpointStore,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly FolderDifference[]> {
  const [said, modesBefore, modesAfter] = await Promise.all([
    store.git(['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to], signal),
    readModes(store, `${from}:${MODES_NAME}`, signal),
    readModes(store, `${to}:${MODES_NAME}`, signal),
  ]);
  const parts = splitNames(said);
  const raw = new Map<string, { before?: Blob; after?: Blob }>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    if (at % SLICE === 0) await setImmediate();
    const [oldMode = '', newMode = '', old = '', now = ''] = (parts[at] ?? '').slice(1).split(' ');
    const path = parts[at + 1] ?? '';
    const [before, after] = [blobOf(oldMode, old), blobOf(newMode, now)];
    if (path === MODES_NAME || (before === undefined && after === undefined)) continue;
    raw.set(path, { ...defined({ before, after }) });
  }
  if (modesBefore !== undefined && modesAfter !== undefined) {
    const files = modesBefore.differing(modesAfter).filter(({ path }) => !raw.has(path) && !path.includes('\n'));
    const found = await store.find(
      files.map(({ path }) => `${from}:${path}`),
      signal,
    );
    for (const { path, kind } of files) {
      const oid = found.get(`${from}:${path}`)?.oid;
      const blob = oid === undefined ? undefined : { oid, ...(kind === 'executable' && { kind }) };
      if (blob !== undefined) raw.set(path, { before: blob, after: blob });
    }
  }
  const oids = [...raw.values()].flatMap((one) => [one.before, one.after].flatMap((blob) => blob?.oid ?? []));
  const sizes = await store.find(oids, signal);
  const bytes = (path: string, { oid, kind }: Blob, modes: CheckpointModes | undefined) => {
    const mode = kind === 'link' ? undefined : modes?.of(path, kind ?? 'plain');
    return {
      key: store.key(oid),
      size: sizes.get(oid)?.size ?? 0,
      ...defined({ kind, mode }),
    };
  };
  const found: FolderDifference[] = [];
  for (const [path, { before, after }] of raw) {
    if (found.length % SLICE === 0) await setImmediate();
    found.push({
      path,
      ...(before !== undefined && { before: bytes(path, before, modesBefore) }),
      ...(after !== undefined && { after: bytes(path, after, modesAfter) }),
    });
  }
  return found;
}

/** Undefined if the state has no such list. */
async function readModes(
  store: CheckpointStore,
  object: string,
  signal: AbortSignal,
  index = store.index,
): Promise<CheckpointModes | undefined> {
  const bytes = await store.git(['cat-file', 'blob', object], signal, { index }).catch((error: unknown) => {
    if (error instanceof GitExit) return undefined;
    throw error;
  });
  return CheckpointModes.parse(bytes);
}
