// Lists the files that a patch names, without parsing the rest of it: for approvals. Pure.

export const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
export const MOVE = '*** Move to: ';

/** Every path that a patch names, even if the patch cannot be parsed. */
export function pathsInPatch(text: string): readonly string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    if (line.startsWith(MOVE)) return [line.slice(MOVE.length).trim()];
    const path = HEADER.exec(line.trimEnd())?.[2];
    return path === undefined ? [] : [path.trim()];
  });
}
