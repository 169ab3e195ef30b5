// The Workspace port over a plain folder, for walks without an editor.
import { readdir, readFile } from 'node:fs/promises';
import { failed, succeeded } from '../../src/base/errors.ts';
import { type Workspace } from '../../src/core/workspacePorts.ts';
import { resolveInside } from '../../src/node/resolvePath.ts';

export function createFolderWorkspace(folder: string): Workspace & { trusted: boolean } {
  return {
    folders: [{ path: '', absolute: folder }],
    trusted: true,
    resolve: (path, options) => resolveInside([{ path: '', absolute: folder }], path, options),
    read: async (file) => {
      try {
        return succeeded({ bytes: await readFile(file.absolute), unsaved: false });
      } catch {
        return failed('not_found', `${file.path} does not exist.`);
      }
    },
    list: async (target) => {
      const entries = await readdir(target.absolute, { withFileTypes: true }).catch(() => undefined);
      if (entries === undefined) return failed('not_found', `${target.path} does not exist.`);
      return succeeded(entries.map((entry) => ({ name: entry.name, kind: entry.isDirectory() ? 'folder' : 'file' })));
    },
  };
}
