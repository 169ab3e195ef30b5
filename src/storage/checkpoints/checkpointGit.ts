// Captures a folder's files with git, in a separate index and object store, never in the user's.
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { encodeName, splitNames } from '../../node/files/rawNames.ts';
import { GitExit, runGit } from '../../node/runGit.ts';
import {
  type CheckpointFolder,
  type FolderDifference,
  folderName,
  inBatches,
  joined,
  siftIgnored,
  siftInSlices,
  type TakenFolder,
} from './checkpointFolder.ts';
import { type Blob, blobOf, entriesOf, insideOf, noting } from './checkpointListing.ts';
import { copyIndex, findRepository, preparePlace } from './checkpointPlace.ts';

/** Paths passed to git in one call. */
const BATCH = 4000;

/** Files processed before yielding to the event loop. */
const SLICE = 1000;

/** Git knows this object without storing it. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Git commands that read the working tree. */
const TREE_COMMANDS = new Set(['ls-files', 'update-index']);

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
  const version = await runGit(['--version'], { folder: deps.storage, signal }).catch(() => undefined);
  if (version === undefined) return undefined;
  const repository = await findRepository(folder, signal);
  const name = folderName(folder);
  const place = join(deps.storage, 'git', name);
  const root = repository?.root ?? folder;
  await preparePlace(place, root, repository, signal);
  return new GitFolder({ ...deps, place, root, prefix: relative(root, folder).split(sep).join('/'), name });
}

class GitFolder implements CheckpointFolder {
  readonly kind = 'git';
  readonly #deps: GitFolderDeps & { place: string; root: string; prefix: string; name: string };
  readonly #index: string;
  /** Ignored files that are in the index. */
  readonly #also = new Set<string>();
  /** Files that git refused; each is reported once. */
  readonly #refused = new Set<string>();
  #tree: string | undefined;
  #taking: Promise<unknown> = Promise.resolve();
  #packing: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(deps: GitFolderDeps & { place: string; root: string; prefix: string; name: string }) {
    this.#deps = deps;
    this.#index = join(deps.place, 'index');
  }

  take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder> {
    const next = this.#taking.then(() => this.#take(also, signal));
    this.#taking = next.catch(() => undefined);
    return next;
  }

  async #take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder> {
    const { root, prefix } = this.#deps;
    const [{ changed, known, gone, nested }, ignored] = await Promise.all([
      this.#findChanges(signal),
      this.#findIgnored(signal),
    ]);
    const isNested = (path: string) => nested.some((folder) => path.startsWith(`${folder}/`));
    const more = also
      .map((path) => join(prefix, path).split(sep).join('/'))
      .filter((path) => !this.#also.has(path) && !isNested(path));
    const leftOut: string[] = [];
    const small = await siftIgnored(root, ignored, signal);
    const present = new Set<string>();
    const sifted = noting(siftInSlices(root, joined(changed(), more), signal, leftOut), known, present);
    const adding = inBatches(sifted, small, BATCH);
    const first = await adding.next();
    const unreadable: string[] = [];
    // With nothing to add, all files were checked, so the list of left-out files is complete.
    const hasChanges = first.done !== true || gone.length > 0 || present.size < known.size;
    if (hasChanges || this.#tree === undefined) {
      // Otherwise the earlier state of a file that is now left out or replaced by a folder would count as present.
      const remove = () => [...new Set([...gone, ...[...known].filter((path) => !present.has(path))])];
      unreadable.push(...(await this.#update(first.done === true ? [] : first.value, adding, remove, signal)));
      for (const path of more) this.#also.add(path);
    }
    const tree = this.#tree ?? '';
    const inside = (paths: readonly string[]) => paths.map((path) => insideOf(prefix, path));
    return { tree, nested: inside(nested), leftOut: inside([...leftOut, ...unreadable]) };
  }

  /** Files that differ from the index. */
  async #findChanges(
    signal: AbortSignal,
  ): Promise<{ changed: () => Iterable<string>; known: ReadonlySet<string>; gone: string[]; nested: string[] }> {
    const { prefix } = this.#deps;
    const limits = prefix === '' ? [] : ['--', prefix];
    const listed = await this.#git(['ls-files', '-z', '-t', '-o', '-m', '-d', '--exclude-standard', ...limits], signal);
    const known = new Set<string>();
    const gone = new Set<string>();
    const nested: string[] = [];
    for (const { path, tag } of entriesOf(listed)) {
      if (tag === 'C') known.add(path);
      if (tag === 'R') gone.add(path);
      else if (path.endsWith('/')) nested.push(path.slice(0, -1));
    }
    // Parsed on demand and never held as a whole, since the first listing contains every file.
    const changed = function* () {
      for (const { path, tag } of entriesOf(listed)) {
        if (tag !== 'R' && !path.endsWith('/') && !gone.has(path)) yield path;
      }
    };
    return { changed, known, gone: [...gone], nested };
  }

  /** Ignored files outside the index whose folders are not ignored. */
  async #findIgnored(signal: AbortSignal): Promise<readonly string[]> {
    const { prefix } = this.#deps;
    const limits = prefix === '' ? [] : ['--', prefix];
    const asked = ['ls-files', '-z', '-t', '-o', '-i', '--exclude-standard', '--directory', ...limits];
    const listed = await this.#git(asked, signal);
    return Array.from(entriesOf(listed), ({ path }) => path).filter((path) => !path.endsWith('/'));
  }

  /** Updates a copy that then replaces the index, since two windows may do this at once. Returns unreadable files. */
  async #update(
    first: readonly string[],
    more: AsyncIterable<readonly string[]>,
    remove: () => readonly string[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const copy = `${this.#index}.${randomUUID()}`;
    const isFirst = !(await copyIndex(this.#index, copy));
    const unreadable: string[] = [];
    try {
      if (first.length > 0) unreadable.push(...(await this.#add(first, copy, isFirst, signal)));
      for await (const add of more) unreadable.push(...(await this.#add(add, copy, isFirst, signal)));
      const removed = remove();
      if (removed.length > 0) {
        await this.#git(['update-index', '--force-remove', '-z', '--stdin'], signal, copy, removed);
      }
      this.#tree = (await this.#git(['write-tree'], signal, copy)).toString().trim();
      await rename(copy, this.#index);
    } catch (error) {
      this.#tree = undefined;
      throw error;
    } finally {
      await rm(copy, { force: true });
      await rm(`${copy}.lock`, { force: true });
    }
    return unreadable;
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
      await this.#git(args, signal, index, paths, borrow);
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

  async keep(name: string, tree: string, signal: AbortSignal): Promise<void> {
    await this.#name(`refs/checkpoints/${name}`, tree, signal);
    this.#packing ??= this.#pack().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#deps.report('the objects of a checkpoint could not be copied', error);
    });
  }

  /** Another window may name the same state at the same time. */
  async #name(ref: string, tree: string, signal: AbortSignal, attempts = 5): Promise<void> {
    try {
      await this.#git(['update-ref', ref, tree], signal);
    } catch (error) {
      const named = await this.#git(['rev-parse', '--verify', '-q', ref], signal).catch(() => undefined);
      if (named?.toString().trim() === tree) return;
      if (attempts === 0) throw error;
      await this.#name(ref, tree, signal, attempts - 1);
    }
  }

  async compare(before: string, after: string | undefined, signal: AbortSignal): Promise<readonly FolderDifference[]> {
    if (before === after) return [];
    const { prefix } = this.#deps;
    const said = await this.#git(
      ['diff-tree', '-r', '-z', '--no-renames', '--raw', before, after ?? EMPTY_TREE],
      signal,
    );
    const parts = splitNames(said);
    const raw: { path: string; before?: Blob; after?: Blob }[] = [];
    for (let at = 0; at + 1 < parts.length; at += 2) {
      if (at % SLICE === 0) await setImmediate();
      const [oldMode = '', newMode = '', old = '', now = ''] = (parts[at] ?? '').slice(1).split(' ');
      const path = parts[at + 1] ?? '';
      const [before, after] = [blobOf(oldMode, old), blobOf(newMode, now)];
      if (before === undefined && after === undefined) continue;
      raw.push({ path: insideOf(prefix, path), ...(before && { before }), ...(after && { after }) });
    }
    const sizes = await this.#sizes(
      raw.flatMap((one) => [one.before, one.after].flatMap((blob) => blob?.oid ?? [])),
      signal,
    );
    const bytes = ({ oid, kind }: Blob) => ({
      key: `git:${this.#deps.name}:${oid}`,
      size: sizes.get(oid) ?? 0,
      ...(kind && { kind }),
    });
    const found: FolderDifference[] = [];
    for (const { path, before: old, after: now } of raw) {
      if (found.length % SLICE === 0) await setImmediate();
      found.push({
        path,
        ...(old !== undefined && { before: bytes(old) }),
        ...(now !== undefined && { after: bytes(now) }),
      });
    }
    return found;
  }

  async #sizes(oids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    if (oids.length === 0) return new Map();
    const said = await this.#gitWith(['cat-file', '--batch-check'], signal, `${[...new Set(oids)].join('\n')}\n`);
    const sizes = new Map<string, number>();
    for (const line of said.toString().trim().split('\n')) {
      if (sizes.size % SLICE === 0) await setImmediate();
      const [oid = '', , size] = line.split(' ');
      // The answer has no size if the object is missing.
      if (size !== undefined) sizes.set(oid, Number(size));
    }
    return sizes;
  }

  async read(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>> {
    const own = `git:${this.#deps.name}:`;
    const oids = [...new Set(keys.flatMap((key) => (key.startsWith(own) ? [key.slice(own.length)] : [])))];
    if (oids.length === 0) return new Map();
    const said = await this.#gitWith(['cat-file', '--batch'], signal, `${oids.join('\n')}\n`);
    const found = new Map<string, Uint8Array>();
    for (let at = 0; at < said.length; ) {
      const end = said.indexOf(10, at);
      const [oid = '', kind, size = ''] = said.subarray(at, end).toString().split(' ');
      const length = kind === 'blob' ? Number(size) : -1;
      if (length >= 0) found.set(own + oid, said.subarray(end + 1, end + 1 + length));
      at = end + 1 + (length >= 0 ? length + 1 : 0);
    }
    return found;
  }

  async forget(needed: (name: string) => boolean, signal: AbortSignal): Promise<number> {
    const said = await this.#git(['for-each-ref', '--format=%(refname)', 'refs/checkpoints'], signal);
    const refs = said
      .toString()
      .split('\n')
      .filter((ref) => ref !== '');
    const old = refs.filter((ref) => !needed(ref.slice('refs/checkpoints/'.length)));
    if (old.length === 0) return 0;
    await this.#gitWith(['update-ref', '--stdin'], signal, old.map((ref) => `delete ${ref}\n`).join(''));
    // A new capture of another window may not be named yet, so nothing younger than a day is removed.
    await this.#git(['repack', '-A', '-d', '-q', '--unpack-unreachable=1.day.ago'], signal);
    await this.#git(['prune', '--expire=1.day.ago'], signal);
    return old.length;
  }

  /** Runs once: copies borrowed objects, so that checkpoints outlive the repository. */
  async #pack(): Promise<void> {
    const { place } = this.#deps;
    const borrowed = join(place, 'borrowed');
    const objects = await readFile(borrowed, 'utf8').catch(() => undefined);
    if (objects === undefined) return;
    const env = { ...this.#env(this.#index), ...alternates(objects) };
    const { signal } = this.#closing;
    await runGit(['-c', 'pack.threads=1', 'repack', '-a', '-d', '-q'], { folder: place, env, signal, idle: true });
    await rm(borrowed, { force: true });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#packing;
    await this.#taking;
  }

  #env(index: string): Record<string, string> {
    return { GIT_DIR: this.#deps.place, GIT_WORK_TREE: this.#deps.root, GIT_INDEX_FILE: index };
  }

  async #git(
    args: readonly string[],
    signal: AbortSignal,
    index = this.#index,
    paths: readonly string[] = [],
    borrow = true,
  ): Promise<Buffer> {
    return this.#gitWith(args, signal, encodeName(paths.map((path) => `${path}\0`).join('')), index, borrow);
  }

  async #gitWith(
    args: readonly string[],
    signal: AbortSignal,
    input: string | Uint8Array,
    index = this.#index,
    borrow = true,
  ): Promise<Buffer> {
    const { place, root } = this.#deps;
    const objects = borrow ? await readFile(join(place, 'borrowed'), 'utf8').catch(() => undefined) : undefined;
    const env = { ...this.#env(index), ...(objects !== undefined && alternates(objects)) };
    // Commands that need no working tree run elsewhere, so that captured files stay readable without the folder.
    const folder = TREE_COMMANDS.has(args[0] ?? '') ? root : place;
    return runGit(args, { folder, env, input, signal: AbortSignal.any([signal, this.#closing.signal]) });
  }
}

function alternates(objects: string): Record<string, string> {
  const quoted = objects.includes(delimiter) || objects.startsWith('"') ? JSON.stringify(objects) : objects;
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted };
}
