// Lists the folders that contain paths, from the innermost to the outermost.
export function foldersAbove(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      // Its parents are in the set already.
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}
