// Parses JSON with comments and trailing commas, as in VS Code's own files, in linear time.

/** Throws what JSON.parse throws. */
export function parseJsonc(text: string): unknown {
  const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  return JSON.parse(replaceOutsideStrings(replaceOutsideStrings(bare, commentAt), trailingCommaAt));
}

/** Replaces matches outside strings by a blank. `find` returns the end of a match at `at`, or `at` without a match. */
function replaceOutsideStrings(text: string, find: (text: string, at: number) => number): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      at = endOfString(text, at);
      continue;
    }
    const end = find(text, at);
    if (end === at) continue;
    pieces.push(text.slice(from, at), ' ');
    from = end;
    at = end - 1;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

function commentAt(text: string, at: number): number {
  if (text[at] !== '/') return at;
  if (text[at + 1] === '/') return endOr(text.indexOf('\n', at), 0, text.length);
  return text[at + 1] === '*' ? endOr(text.indexOf('*/', at + 2), 2, text.length) : at;
}

/** The end of what was found at this index; `otherwise` if it was not found. */
function endOr(index: number, length: number, otherwise: number): number {
  return index === -1 ? otherwise : index + length;
}

/** Comments are already removed, so only blanks can be between the comma and the bracket. */
function trailingCommaAt(text: string, at: number): number {
  if (text[at] !== ',') return at;
  let next = at + 1;
  while (next < text.length && text.charCodeAt(next) <= 0x20) next++;
  return text[next] === '}' || text[next] === ']' ? next : at;
}
