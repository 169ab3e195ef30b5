// Converts paths of a working tree to paths of the workspace.
import { relative, sep } from 'node:path';
import { type FilePath } from '../../core/ports/workspace.ts';

/** The working tree may begin above the workspace's folders. */
export function inWorkspace(folders: readonly FilePath[], tree: string, paths: readonly string[]): string[] {
  return folders.flatMap(({ path: name, absolute }) => {
    const inner = relative(tree, absolute).split(sep).join('/');
    const prefix = inner === '' ? '' : `${inner}/`;
    return paths.flatMap((path) =>
      path.startsWith(prefix) ? [name, path.slice(prefix.length)].filter((part) => part !== '').join('/') : [],
    );
  });
}
