// The objects and names of a folder's checkpoints, in a git repository of their own.
import { readFile, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ignore } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { encodeName } from '../../node/files/rawNames.ts';
import { runGit } from '../../node/runGit.ts';

/** Objects processed before yielding to the event loop. */
const SLICE = 1000;
/** Git commands that read the working tree. */
const TREE_COMMANDS = new Set(['ls-files', 'diff-files', 'update-index']);
/** Copying and packing all objects of a large repository, in the background. */
const PACKING_MILLISECONDS = 30 * 60 * 1000;

interface StoreDeps {
  /** Git's own folder for the checkpoints. */
  readonly place: string;
  /** The working tree. */
  readonly root: string;
  /** Distinguishes the keys of several folders. */
  readonly name: string;
  report(what: string, error: unknown): void;
}

interface StoreRun {
  readonly index?: string;
  /** Passed as input, each with a zero byte. */
  readonly paths?: readonly string[];
  readonly input?: string;
  /** Reads objects of the user's repository too, until they are copied; true unless set. */
  readonly borrow?: boolean;
  readonly milliseconds?: number;
}

export class CheckpointStore {
  readonly #deps: StoreDeps;
  readonly #borrowed: string;
  readonly #closing = new AbortController();
  #packing: Promise<void> | undefined;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#borrowed = join(deps.place, 'borrowed');
  }

  get index(): string {
    return join(this.#deps.place, 'index');
  }

  async git(args: readonly string[], signal: AbortSignal, run: StoreRun = {}): Promise<Buffer> {
    const { place, root } = this.#deps;
    const { index = this.index, borrow = true, milliseconds } = run;
    const objects = borrow ? await readFile(this.#borrowed, 'utf8').catch(ignore) : undefined;
    return runGit(args, {
      // Commands that need no working tree run elsewhere, so that captured files stay readable without the folder.
      folder: TREE_COMMANDS.has(args[0] ?? '') ? root : place,
      env: {
        GIT_DIR: place,
        GIT_WORK_TREE: root,
        GIT_INDEX_FILE: index,
        ...(objects !== undefined && alternates(objects)),
      },
      input: run.input ?? encodeName((run.paths ?? []).map((path) => `${path}\0`).join('')),
      signal: AbortSignal.any([signal, this.#closing.signal]),
      ...defined({ milliseconds }),
    });
  }

  key(oid: string): string {
    return `git:${this.#deps.name}:${oid}`;
  }

  /** Names and sizes of objects; `objects` in any form that git accepts. Missing ones are absent. */
  async find(
    objects: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, { readonly oid: string; readonly size: number }>> {
    if (objects.length === 0) return new Map();
    const asked = [...new Set(objects)];
    const said = await this.git(['cat-file', '--batch-check'], signal, { input: `${asked.join('\n')}\n` });
    const found = new Map<string, { oid: string; size: number }>();
    for (const [at, line] of said.toString().trimEnd().split('\n').entries()) {
      if (at % SLICE === 0) await setImmediate();
      const [, oid = '', size] = /^([0-9a-f]{40}) blob (\d+)$/.exec(line) ?? [];
      if (size !== undefined) found.set(asked[at] ?? '', { oid, size: Number(size) });
    }
    return found;
  }

  async read(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>> {
    const own = this.key('');
    const oids = [...new Set(keys.flatMap((key) => (key.startsWith(own) ? [key.slice(own.length)] : [])))];
    if (oids.length === 0) return new Map();
    const said = await this.git(['cat-file', '--batch'], signal, { input: `${oids.join('\n')}\n` });
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

  async keep(name: string, tree: string, signal: AbortSignal): Promise<void> {
    await this.#name(`refs/checkpoints/${name}`, tree, signal);
    this.#packing ??= this.#pack().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#deps.report('the objects of a checkpoint could not be copied', error);
    });
  }

  /** Another window may name the same state at the same time. */
  async #name(ref: string, tree: string, signal: AbortSignal, attempts = 5): Promise<void> {
    try {
      await this.git(['update-ref', ref, tree], signal);
    } catch (error) {
      const named = await this.git(['rev-parse', '--verify', '-q', ref], signal).catch(ignore);
      if (named?.toString().trim() === tree) return;
      if (attempts === 0) throw error;
      await this.#name(ref, tree, signal, attempts - 1);
    }
  }

  async forget(needed: (name: string) => boolean, signal: AbortSignal): Promise<number> {
    const said = await this.git(['for-each-ref', '--format=%(refname)', 'refs/checkpoints'], signal);
    const refs = said
      .toString()
      .split('\n')
      .filter((ref) => ref !== '');
    const old = refs.filter((ref) => !needed(ref.slice('refs/checkpoints/'.length)));
    if (old.length === 0) return 0;
    await this.git(['update-ref', '--stdin'], signal, { input: old.map((ref) => `delete ${ref}\n`).join('') });
    // A new capture of another window may not be named yet, so nothing younger than a day is removed.
    const long = { milliseconds: PACKING_MILLISECONDS };
    await this.git(['repack', '-A', '-d', '-q', '--unpack-unreachable=1.day.ago'], signal, long);
    await this.git(['prune', '--expire=1.day.ago'], signal, long);
    return old.length;
  }

  /** The user's objects are not used any more; what was borrowed must be captured again. */
  async stopBorrowing(): Promise<void> {
    await rm(this.#borrowed, { force: true });
  }

  /** Runs once: copies borrowed objects, so that checkpoints outlive the repository. */
  async #pack(): Promise<void> {
    const { place, root } = this.#deps;
    const objects = await readFile(this.#borrowed, 'utf8').catch(ignore);
    if (objects === undefined) return;
    await runGit(['-c', 'pack.threads=1', 'repack', '-a', '-d', '-q'], {
      folder: place,
      env: { GIT_DIR: place, GIT_WORK_TREE: root, GIT_INDEX_FILE: this.index, ...alternates(objects) },
      signal: this.#closing.signal,
      idle: true,
      milliseconds: PACKING_MILLISECONDS,
    });
    await rm(this.#borrowed, { force: true });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#packing;
  }
}

function alternates(objects: string): Record<string, string> {
  const quoted = objects.includes(delimiter) || objects.startsWith('"') ? JSON.stringify(objects) : objects;
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted };
}
