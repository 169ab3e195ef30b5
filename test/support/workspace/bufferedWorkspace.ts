// A folder workspace with unsaved editor buffers.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Emitter } from '../../../src/base/emitter.ts';
import { failed, succeeded } from '../../../src/base/errors.ts';
import { guardWorkspace } from '../../../src/core/consent/door.ts';
import {
  type AppliedEdit,
  type Buffers,
  type FilePath,
  type Workspace,
  type WorkspaceDisk,
} from '../../../src/core/ports/workspace.ts';
import { createFolderDisk } from './folderWorkspace.ts';

export interface BufferedWorkspace extends Workspace, Buffers {
  /** The bytes of each unsaved buffer, by path. */
  readonly typed: Map<string, Uint8Array>;
  type(path: string, text: string): void;
  save(path: string): Promise<void>;
}

export function createBufferedWorkspace(folder: string): BufferedWorkspace {
  const below = createFolderDisk(folder);
  const typed = new Map<string, Uint8Array>();
  const onDidSave = new Emitter<{ file: FilePath; bytes: Uint8Array }>((error) => {
    throw error;
  });
  const fileOf = (path: string): FilePath => ({ path, absolute: join(folder, path) });
  const readBeneath = (file: FilePath) => readFile(file.absolute).catch(() => undefined);
  const apply: Workspace['apply'] = async (edits, options) => {
    const applied: AppliedEdit[] = [];
    for (const edit of edits) {
      const present = typed.get(edit.file.path);
      if (present === undefined) continue;
      if (edit.from === undefined || Buffer.compare(present, edit.from) !== 0) return failed('stale', edit.file.path);
      if (edit.type !== 'write') return failed('unsaved', `${edit.file.path} has unsaved changes.`);
      applied.push({ file: edit.file, before: present, after: edit.to, unsaved: true });
    }
    const rest = edits.filter(({ file }) => !typed.has(file.path));
    const below_ = await below.apply(rest, options);
    if (!below_.ok) return below_;
    for (const { file, after } of applied) if (after !== undefined) typed.set(file.path, after);
    return succeeded([...applied, ...below_.value]);
  };
  const disk: WorkspaceDisk = {
    ...below,
    readJudged: async (file, judge, options) => {
      const bytes = typed.get(file.path);
      return bytes === undefined ? below.readJudged(file, judge, options) : succeeded({ bytes, unsaved: true });
    },
    unsaved: () => [...typed.keys()].map(fileOf),
    apply,
  };
  return {
    ...guardWorkspace(disk),
    typed,
    type: (path, text) => void typed.set(path, Buffer.from(text)),
    save: async (path) => {
      const bytes = typed.get(path);
      if (bytes === undefined) return;
      await writeFile(join(folder, path), bytes);
      typed.delete(path);
      onDidSave.fire({ file: fileOf(path), bytes });
    },
    onDidSave: onDidSave.event,
    readBeneath,
    writeBeneath: async (file, from, to) => {
      const present = await readBeneath(file);
      const same = present === undefined || from === undefined ? present === from : Buffer.compare(present, from) === 0;
      if (!same) return failed('stale', `${file.path} has changed.`);
      if (to === undefined) await rm(file.absolute);
      else await writeFile(file.absolute, to);
      return succeeded(undefined);
    },
  };
}
