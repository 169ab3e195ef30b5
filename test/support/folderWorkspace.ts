// The Workspace port over a plain folder, for walks without an editor.
import { type Dirent } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { decodeBytes, encodeText } from '../../src/base/encodings.ts';
import { failed, type Result, succeeded } from '../../src/base/errors.ts';
import {
  type AppliedEdit,
  type FileEdit,
  type FilePath,
  type FolderEntry,
  type Workspace,
} from '../../src/core/workspacePorts.ts';
import { resolveInside } from '../../src/node/resolvePath.ts';

export interface FolderWorkspace extends Workspace {
  trusted: boolean;
  /** What a formatter would do when a file is saved. */
  onSave?: (text: string) => string;
}

export function createFolderWorkspace(folder: string): FolderWorkspace {
  let changing: Promise<unknown> = Promise.resolve();
  const workspace: FolderWorkspace = {
    folders: [{ path: '', absolute: folder }],
    trusted: true,
    resolve: (path, options) => resolveInside([{ path: '', absolute: folder }], path, options),
    read: async (file) => {
      const bytes = await readOrNothing(file);
      return bytes === undefined
        ? failed('not_found', `${file.path} does not exist.`)
        : succeeded({ bytes, unsaved: false });
    },
    unsaved: () => [],
    list: async (target) => {
      const entries = await readdir(target.absolute, { withFileTypes: true }).catch(() => undefined);
      if (entries === undefined) return failed('not_found', `${target.path} does not exist.`);
      return succeeded(entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) })));
    },
    decode: async (_file, bytes) => decodeBytes(bytes)?.text,
    encode: async (_file, text, like) =>
      encodeText(text, (like === undefined ? undefined : decodeBytes(like)?.encoding) ?? 'utf8'),
    apply: (edits, options = {}) => {
      const apply = async (): Promise<Result<readonly AppliedEdit[]>> => {
        if (!workspace.trusted)
          return failed('untrusted', 'The workspace is not trusted, so nothing in it is changed.');
        const problem = await whyNot(edits);
        if (problem !== undefined) return problem;
        const applied: AppliedEdit[] = [];
        for (const edit of edits) {
          applied.push(...(await applyOne(edit, options.exact === true ? undefined : workspace)));
        }
        return succeeded(applied);
      };
      const applied = changing.then(apply);
      changing = applied.catch(() => undefined);
      return applied;
    },
  };
  return workspace;
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

async function readOrNothing(file: FilePath): Promise<Uint8Array | undefined> {
  return readFile(file.absolute).catch(() => undefined);
}

/** Looks at everything before anything is changed. */
async function whyNot(edits: readonly FileEdit[]): Promise<Extract<Result<never>, { ok: false }> | undefined> {
  const planned = new Map<string, Uint8Array | undefined>();
  for (const edit of edits) {
    const { absolute, path } = edit.file;
    const present = planned.has(absolute) ? planned.get(absolute) : await readOrNothing(edit.file);
    if (!same(present, edit.from)) return failed('stale', `${path} is no longer as it was.`);
    if (edit.type === 'move' && (await readOrNothing(edit.to)) !== undefined) {
      return failed('exists', `${edit.to.path} exists already.`);
    }
    planned.set(absolute, edit.type === 'write' ? edit.to : undefined);
  }
  return undefined;
}

async function applyOne(edit: FileEdit, saving: FolderWorkspace | undefined): Promise<AppliedEdit[]> {
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

function same(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}
