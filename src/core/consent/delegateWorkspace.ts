// A workspace that forwards to another one, except for the methods that a guard replaces.
import { type Workspace } from '../ports/workspace.ts';

export function delegateWorkspace(workspace: Workspace, replaced: Partial<Workspace>): Workspace {
  return {
    get folders() {
      return workspace.folders;
    },
    get trusted() {
      return workspace.trusted;
    },
    resolve: (path, options) => workspace.resolve(path, options),
    read: (file, options) => workspace.read(file, options),
    readLocally: (file, options) => workspace.readLocally(file, options),
    fingerprint: (file, by) => workspace.fingerprint(file, by),
    unsaved: () => workspace.unsaved(),
    mayShow: (file) => workspace.mayShow(file),
    list: (folder) => workspace.list(folder),
    admitting: (consent) => workspace.admitting(consent),
    decode: (file, bytes) => workspace.decode(file, bytes),
    encode: (file, text, like) => workspace.encode(file, text, like),
    apply: (edits, options) => workspace.apply(edits, options),
    ...replaced,
  };
}
