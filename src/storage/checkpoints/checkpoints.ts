// Checkpoints of the workspace: a state of each folder, stored under one name, and their removal when they are old.
import { parseJson } from '../../base/json/outsideJson.ts';
import { createHash } from 'node:crypto';
import { lstat, statfs } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as z from 'zod';
import { ignore } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { shortList } from '../../base/text.ts';
import { type Logger } from '../../core/ports/ports.ts';
import {
  type CheckpointBytes,
  type CheckpointDifference,
  type Checkpoints,
  type Snapshots,
  type PlacedFile,
} from '../../core/ports/storage.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { diskPath } from '../../node/files/rawNames.ts';
import { type CheckpointFolder, folderName } from './checkpointFolder.ts';
import { type CaptureFirst, withFirstCapture } from './firstCapture.ts';
import { platform } from '../../node/platform/platform.ts';

const MOST_NESTED = 20;
/** Files processed before yielding to the event loop. */
const SLICE = 1000;
/** Older checkpoints are removed; after that only changes of the agent's own tools can be undone. */
const OLD = 30 * 24 * 60 * 60 * 1000;
/** Checkpoints younger than this are kept, since another window may not have named them yet. */
const NEW = 24 * 60 * 60 * 1000;

export interface CheckpointsDeps {
  readonly files: FileSystem;
  /** This window's own storage. */
  readonly folder: string;
  readonly snapshots: Snapshots;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Does not use git, as on a machine without it. */
  readonly withoutGit?: boolean;
  /** If absent, the first capture is taken in this process. */
  readonly captureFirst?: CaptureFirst;
}

export interface StoredCheckpoints extends Checkpoints {
  /** Removes old and unreferenced checkpoints. */
  cleanUp(isNamed: (name: string) => boolean): Promise<number>;
  /** Resolves once all background work has ended. */
  close(): Promise<void>;
}

/** How far file times may lag behind the clock. */
const COARSE_MILLISECONDS = 20;

const manifestSchema = z.strictObject({
  /** When the capture began, in milliseconds since 1970. Not part of the name, so equal states have equal names. */
  at: z.number(),
  folders: z.array(
    z.strictObject({ path: z.string(), absolute: z.string(), kind: z.enum(['git', 'walk']), tree: z.string() }),
  ),
  left_out: z.array(z.string()),
});
type Manifest = z.infer<typeof manifestSchema>;

export function createCheckpoints(deps: CheckpointsDeps): StoredCheckpoints {
  const { files, clock, logger } = deps;
  const root = join(deps.folder, 'checkpoints');
  const folders = new Map<string, Promise<CheckpointFolder>>();
  /** Checkpoints of this window; those not stored exist only here. */
  const manifests = new Map<string, Manifest>();

  const openFolder = async (absolute: string): Promise<CheckpointFolder> => {
    if (deps.withoutGit !== true) {
      const report = (what: string, error: unknown) => logger.warn(`${what}: ${describeError(error)}`);
      const { openGitFolder } = await import('./checkpointGit.ts');
      const signal = new AbortController().signal;
      const opened = await openGitFolder({ storage: root, folder: absolute, signal, report });
      const failedFirst = (error: unknown) => report('the first checkpoint was not taken in a separate process', error);
      const first = { storage: root, folder: absolute, capture: deps.captureFirst, report: failedFirst };
      if (opened !== undefined) return withFirstCapture(opened, first);
    }
    const { openWalkFolder } = await import('./checkpointWalk.ts');
    return openWalkFolder({ storage: root, folder: absolute, snapshots: deps.snapshots });
  };
  const folderAt = (absolute: string): Promise<CheckpointFolder> => {
    const opening = folders.get(absolute) ?? openFolder(absolute);
    folders.set(absolute, opening);
    opening.catch(() => folders.delete(absolute));
    return opening;
  };
  const readManifest = async (name: string): Promise<Manifest | undefined> => {
    const known = manifests.get(name);
    if (known !== undefined) return known;
    const bytes = /^[0-9a-f]{40}$/.test(name) ? await files.read(join(root, `${name}.json`)) : undefined;
    const parsed = bytes && manifestSchema.safeParse(parseJson(new TextDecoder().decode(bytes)));
    return parsed?.data;
  };

  const take: Checkpoints['take'] = async (options) => {
    const { signal, also } = options;
    const taken: Manifest = { at: Date.now(), folders: [], left_out: [] };
    const todo: FilePath[] = options.folders.filter(({ absolute }) => !isVirtual(absolute));
    for (const { path, absolute } of options.folders)
      if (isVirtual(absolute)) taken.left_out.push(`${path || absolute}/`);
    for (let folder = todo.shift(); folder !== undefined; folder = todo.shift()) {
      const { path, absolute } = folder;
      const opened = await folderAt(absolute);
      const inner = also.flatMap((file) => innerPath(absolute, file.absolute) ?? []);
      const { tree, nested, leftOut } = await opened.take(inner, signal);
      const named = (name: string) => (path === '' ? name : `${path}/${name}`);
      taken.folders.push({ path, absolute, kind: opened.kind, tree });
      taken.left_out.push(...leftOut.map(named));
      const room = MOST_NESTED - taken.folders.length;
      if (nested.length > room)
        taken.left_out.push(...nested.slice(Math.max(0, room)).map((name) => `${named(name)}/`));
      for (const name of nested.slice(0, Math.max(0, room))) {
        todo.push({ path: named(name), absolute: join(absolute, name) });
      }
    }
    const state = JSON.stringify([taken.folders, taken.left_out]);
    const name = createHash('sha256').update(state).digest('hex').slice(0, 40);
    manifests.set(name, taken);
    if (options.keep) {
      for (const { absolute, tree } of taken.folders) await (await folderAt(absolute)).keep(name, tree, signal);
      await files.makeFolder(root);
      await files.writeWhole(join(root, `${name}.json`), new TextEncoder().encode(JSON.stringify(taken)));
    }
    return succeeded({ name, leftOut: taken.left_out });
  };

  /** A folder that became a repository of its own, or is none any more, is in only one of the two states. */
  const compareFolders = async (old: Manifest, now: Manifest, signal: AbortSignal) => {
    const found = new Map<string, CheckpointDifference>();
    const paths = new Map([...now.folders, ...old.folders].map((folder) => [folder.absolute, folder.path]));
    for (const [absolute, path] of paths) {
      const [before, after] = [old, now].map(({ folders: all }) => all.find((one) => one.absolute === absolute)?.tree);
      const isAlone = before === undefined || after === undefined;
      // It still exists, but is no longer captured: its files are neither created nor deleted.
      if (
        isAlone &&
        !isCovered(before === undefined ? old : now, absolute) &&
        (await files.stat(absolute)) !== undefined
      )
        continue;
      for (const { path: inner, ...bytes } of await (await folderAt(absolute)).compare(before, after, signal)) {
        const file = { path: path === '' ? inner : `${path}/${inner}`, absolute: join(absolute, inner) };
        const merged = { file, ...found.get(file.absolute), ...bytes };
        if (isAlone && isSameState(merged)) found.delete(file.absolute);
        else found.set(file.absolute, merged);
      }
    }
    return [...found.values()];
  };

  return {
    take: (options) => attempt(options.signal, 'The workspace’s files cannot be captured', async () => take(options)),
    compare: (before, after, signal) =>
      attempt(signal, 'The checkpoint cannot be read', async () => {
        const [old, now] = [await readManifest(before), await readManifest(after)];
        if (old === undefined || now === undefined) {
          return failed('no_checkpoint', 'The checkpoint is no longer there.', 'Only the newest ones are kept.');
        }
        const leftOut = new Set([...old.left_out, ...now.left_out]);
        const differences: CheckpointDifference[] = [];
        const unknown: string[] = [];
        const found = await compareFolders(old, now, signal);
        const removed = new Set(found.flatMap(({ file, before, after }) => (after ? [] : movedKey(file, before))));
        for (const { file, ...bytes } of found) {
          // A checkout may change ten thousand files: yields to the event loop in between.
          if (differences.length % SLICE === 0) await setImmediate();
          if (leftOut.has(file.path)) {
            unknown.push(file.path);
            continue;
          }
          // Times lag behind the clock, so a file of right before the checkpoint may also be one of right after it.
          const age = bytes.before === undefined ? await ageAt(file.absolute, old.at) : undefined;
          const isOld = age !== undefined && age > COARSE_MILLISECONDS;
          const movedIn = age !== undefined && age >= 0 && removed.has(movedKey(file, bytes.after));
          if (!isOld || movedIn) differences.push({ file, ...bytes, ...(movedIn && { movedIn }) });
        }
        if (unknown.length > 0) {
          logger.warn(`changes are not listed, since the files were too large or unreadable: ${shortList(unknown)}`);
        }
        return succeeded(differences);
      }),
    leftOut: async (name) => (await readManifest(name))?.left_out ?? [],
    changedAt,
    read: async (bytes, signal) => {
      const keys = bytes.map(({ key }) => key);
      const found = new Map<string, Uint8Array>();
      for (const folder of folders.values()) {
        for (const [key, value] of await (await folder).read(keys, signal)) found.set(key, value);
      }
      return found;
    },
    cleanUp: async (isNamed) => {
      const { signal } = new AbortController();
      const kept: Manifest[] = [];
      const needed = new Set<string>();
      let removed = 0;
      for (const file of await files.list(root)) {
        const name = /^([0-9a-f]{40})\.json$/.exec(file)?.[1];
        const stat = name === undefined ? undefined : await files.stat(join(root, file));
        if (name === undefined || stat === undefined) continue;
        const age = clock.now() - stat.modified;
        if (age < NEW || (age < OLD && isNamed(name))) {
          needed.add(name);
          const manifest = await readManifest(name);
          if (manifest !== undefined) kept.push(manifest);
          continue;
        }
        await files.remove(join(root, file));
        manifests.delete(name);
        removed += 1;
      }
      const inUse = [...kept, ...manifests.values()].flatMap((one) => one.folders);
      for (const absolute of new Set(inUse.map((folder) => folder.absolute))) {
        if ((await files.stat(absolute)) !== undefined) {
          await (await folderAt(absolute)).forget((name) => needed.has(name), signal);
        }
      }
      const used = new Set([...inUse.map((folder) => folder.absolute), ...folders.keys()].map(folderName));
      for (const name of await files.list(join(root, 'git'))) {
        if (!used.has(name)) await files.remove(join(root, 'git', name));
      }
      const trees = new Set([...kept, ...manifests.values()].flatMap((one) => one.folders.map(({ tree }) => tree)));
      const { cleanWalks } = await import('./checkpointWalk.ts');
      await cleanWalks(root, trees);
      if (removed > 0) logger.info(`${removed} old checkpoints in ${root} were removed`);
      return removed;
    },
    close: async () => {
      for (const opening of folders.values()) await opening.then((folder) => folder.close()).catch(ignore);
    },
  };
}

/** Failures become data; cancellation is rethrown. */
async function attempt<T>(signal: AbortSignal, what: string, action: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await action();
  } catch (error) {
    signal.throwIfAborted();
    return failed('checkpoint', `${what}: ${describeError(error)}.`, 'Earshot: Show Log has details.');
  }
}

/**
 * How many milliseconds before the checkpoint a file was last changed; undefined if it is gone. A file that existed and
 * was only ignored or left out was created by nobody.
 */
async function ageAt(absolute: string, at: number): Promise<number | undefined> {
  const stat = await lstat(diskPath(absolute)).catch(ignore);
  return stat && at - Math.floor(stat.ctimeMs);
}

/** A file whose folder was moved is as old as before, but the same name with the same bytes is missing elsewhere. */
function movedKey({ path }: FilePath, bytes: CheckpointBytes | undefined): string {
  return JSON.stringify([path.slice(path.lastIndexOf('/') + 1), bytes?.key]);
}

function isVirtual(absolute: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\//i.test(absolute);
}

/** Whether another folder of the checkpoint contains the folder's files. */
function isCovered({ folders }: Manifest, absolute: string): boolean {
  return folders.some((folder) => innerPath(folder.absolute, absolute) !== undefined);
}

/** The same content, even if it is stored in two places. */
function isSameState({ before, after }: CheckpointDifference): boolean {
  const content = (one: typeof before) => one && [one.key.slice(one.key.lastIndexOf(':')), one.kind, one.mode].join();
  return content(before) === content(after);
}

/** Relative to the folder; undefined if it is outside. */
function innerPath(folder: string, absolute: string): string | undefined {
  const base = folder.replace(/[\\/]$/, '');
  const inside = absolute.startsWith(`${base}/`) || absolute.startsWith(`${base}\\`);
  return inside ? absolute.slice(base.length + 1).replaceAll('\\', '/') : undefined;
}

const AT_ONCE = 64;

/**
 * For a deleted file, the time of the last change of its folder, or of what is in the place of that folder. For a file
 * that was moved with its folder, the time of the move.
 */
async function changedAt(files: readonly PlacedFile[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const local = new Map<string, Promise<boolean>>();
  const time = async (file: PlacedFile): Promise<void> => {
    const at = await timeOf(file);
    if (at === undefined) return;
    const isLocal = local.get(at.folder) ?? hasLocalClock(at.folder);
    local.set(at.folder, isLocal);
    if (await isLocal) found.set(file.path, at.milliseconds);
  };
  for (let at = 0; at < files.length; at += AT_ONCE) await Promise.all(files.slice(at, at + AT_ONCE).map(time));
  return found;
}

async function timeOf({ path, absolute, movedIn }: PlacedFile): Promise<FoundTime | undefined> {
  let newest = 0;
  for (const folder of foldersAbove(absolute, path.split('/').length - 1)) {
    const stat = await lstat(diskPath(folder)).catch(ignore);
    if (stat === undefined) break;
    if (!stat.isDirectory()) return { milliseconds: stat.ctimeMs, folder: dirname(folder) };
    newest = Math.max(newest, stat.ctimeMs);
  }
  const folder = dirname(absolute);
  const stat = await lstat(diskPath(absolute)).catch(ignore);
  if (stat === undefined) return folderTime(folder);
  return { milliseconds: movedIn === true ? Math.max(stat.ctimeMs, newest) : stat.ctimeMs, folder };
}

/** So many folders above the file, the outermost first. */
function foldersAbove(absolute: string, count: number): string[] {
  const folders: string[] = [];
  for (let folder = dirname(absolute); folders.length < count; folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

interface FoundTime {
  readonly milliseconds: number;
  readonly folder: string;
}

/** The time of the nearest existing folder. */
async function folderTime(folder: string): Promise<FoundTime | undefined> {
  const stat = await lstat(diskPath(folder)).catch(ignore);
  if (stat !== undefined) return { milliseconds: stat.mtimeMs, folder };
  return dirname(folder) === folder ? undefined : folderTime(dirname(folder));
}

async function hasLocalClock(folder: string): Promise<boolean> {
  return statfs(diskPath(folder)).then(
    ({ type }) => platform.disk.hasLocalClock(type),
    () => false,
  );
}
