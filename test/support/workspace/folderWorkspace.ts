// A Workspace over a plain folder, for tests without an editor.
import { type Dirent } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeBytes, encodeText } from '../../../src/base/encodings.ts';
import { failed, type Result, succeeded } from '../../../src/base/errors.ts';
import { guardWorkspace } from '../../../src/core/consent/door.ts';
import {
  type AppliedEdit,
  type FileEdit,
  type FilePath,
  type FolderEntry,
  type Workspace,
  type WorkspaceDisk,
} from '../../../src/core/ports/workspace.ts';
import { pinPlace } from '../../../src/node/files/pinnedPlace.ts';
import { locate, readJudged } from '../../../src/node/files/readInside.ts';
import { resolveInside } from '../../../src/node/files/resolvePath.ts';

interface Settings {
  trusted: boolean;
  /** A formatter that runs when a file is saved. */
  onSave?: ((text: string) => string) | undefined;
}

export interface FolderWorkspace extends Omit<Workspace, 'trusted'>, Settings {}

export interface FolderDisk extends Omit<WorkspaceDisk, 'trusted'>, Settings {}

/** `disk`: the layer below the door, for tests that observe or change reads. */
export function createFolderWorkspace(folder: string, disk = createFolderDisk(folder)): FolderWorkspace {
  return {
    ...guardWorkspace(disk),
    folders: disk.folders,
    get trusted() {
      return disk.trusted;
    },
    set trusted(trusted) {
      disk.trusted = trusted;
    },
    get onSave() {
      return disk.onSave;
    },
    set onSave(onSave) {
      disk.onSave = onSave;
    },
  };
}

const LONGEST = 50 * 1024 * 1024;

/** The layer below the door, for tests that replace parts of it. */
export function createFolderDisk(
  folder: string,
  folders: readonly FilePath[] = [{ path: '', absolute: folder }],
): FolderDisk {
  let changing: Promise<unknown> = Promise.resolve();
  const disk: FolderDisk = {
    folders,
    trusted: true,
    resolve: (path, options) => resolveInside(folders, path, options),
    readJudged: (file, judge, { atMost = LONGEST, part } = {}) => readJudged(folders, file, { judge, atMost, part }),
    unsaved: () => [],
    locate: (file) => locate(folders, file),
    listUnjudged: async (target) => {
      const entries = await readdir(target.absolute, { withFileTypes: true }).catch(() => undefined);
      if (entries === undefined) return failed('not_found', `${target.path} does not exist.`);
      return succeeded(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
    },
    decode: async (_file, bytes) => decodeBytes(bytes)?.text,
    encode: async (_file, text, like) =>
      encodeText(text, (like === undefined ? undefined : decodeBytes(like)?.encoding) ?? 'utf8'),
    apply: (edits, options = {}) => {
      const apply = async (): Promise<Result<readonly AppliedEdit[]>> => {
        if (!disk.trusted) return failed('untrusted', 'The workspace is not trusted, so nothing in it is changed.');
        const problem = await whyNot(edits);
        if (problem !== undefined) return problem;
        const applied: AppliedEdit[] = [];
        for (const edit of edits) {
          const elsewhere = await whyMoved(folders, edit);
          if (elsewhere !== undefined) return elsewhere;
          applied.push(...(await applyOne(edit, options.exact === true ? undefined : disk)));
        }
        return succeeded(applied);
      };
      const applied = changing.then(apply);
      changing = applied.catch(() => undefined);
      return applied;
    },
  };
  return disk;
}

async function whyMoved(folders: readonly FilePath[], edit: FileEdit) {
  const itself = edit.type !== 'write';
  for (const file of edit.type === 'move' ? [edit.file, edit.to] : [edit.file]) {
    const pinned = await pinPlace(folders, file, { itself });
    if (!pinned.ok) return pinned;
  }
  return undefined;
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

async function readOrNothing(file: FilePath): Promise<Uint8Array | undefined> {
  return readFile(file.absolute).catch(() => undefined);
}

/** Returns why the edits cannot be applied; checks all of them before anything is changed. */
async function whyNot(edits: readonly FileEdit[]): Promise<Extract<Result<never>, { ok: false }> | undefined> {
  const planned = new Map<string, Uint8Array | undefined>();
  for (const edit of edits) {
    const { absolute, path } = edit.file;
    const present = planned.has(absolute) ? planned.get(absolute) : await readOrNothing(edit.file);
    if (!sameBytes(present, edit.from)) return failed('stale', `${path} is no longer as it was.`);
    if (edit.type === 'move' && (await readOrNothing(edit.to)) !== undefined) {
      return failed('exists', `${edit.to.path} exists already.`);
    }
    planned.set(absolute, edit.type === 'write' ? edit.to : undefined);
  }
  return undefined;
}

async function applyOne(edit: FileEdit, saving: Settings | undefined): Promise<AppliedEdit[]> {
  const { file } = edit;
  const unsaved = false;
  const before = edit.from === undefined ? {} : { before: edit.from };
  switch (edit.type) {
    case 'write': {
      const decoded = saving?.onSave === undefined ? undefined : decodeBytes(edit.to);
      const saved = decoded && encodeText(saving?.onSave?.(decoded.text) ?? decoded.text, decoded.encoding);
      const after = saved ?? edit.to;
      await mkdir(dirname(file.absolute), { recursive: true });
      await writeFile(file.absolute, after);
      return [{ file, ...before, after, unsaved }];
    }
    case 'move':
      await mkdir(dirname(edit.to.absolute), { recursive: true });
      await rename(file.absolute, edit.to.absolute);
      return [
        { file, ...before, unsaved },
        { file: edit.to, after: edit.from, unsaved },
      ];
    case 'delete':
      await rm(file.absolute);
      return [{ file, ...before, unsaved }];
  }
}

function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}
