// Parses a patch in the form “*** Begin Patch”: files to add, update, move and delete, hunk by hunk. Pure.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { HEADER, MOVE } from './patchPaths.ts';

export interface Hunk {
  /** The patch's line that begins it, counted from 1, for error messages. */
  readonly at: number;
  /** Lines of the file that precede it, in this order: `@@ class Order`. */
  readonly anchors: readonly string[];
  readonly lines: readonly { readonly sign: ' ' | '-' | '+'; readonly text: string }[];
  /** It must be at the end of the file. */
  readonly atEnd: boolean;
}

export type FilePatch =
  | { readonly type: 'add'; readonly path: string; readonly content: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly to?: string; readonly hunks: readonly Hunk[] };

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const END_OF_FILE = '*** End of File';

export function parsePatch(text: string): Result<readonly FilePatch[]> {
  const lines = text.split(/\r?\n/);
  // Models often wrap a patch in a shell command or a code block.
  const first = lines.findIndex((line) => line.trim() === BEGIN);
  const last = lines.findLastIndex((line) => line.trim() === END);
  if (first === -1) return malformed(1, `it does not begin with “${BEGIN}”`);
  if (last < first) return malformed(lines.length, `it does not end with “${END}”`);
  const patches: FilePatch[] = [];
  let at = first + 1;
  while (at < last) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const [, kind, path = ''] = HEADER.exec(line.trimEnd()) ?? [];
    if (kind === undefined)
      return malformed(at + 1, `“${line}” is no “*** Add File: ”, “*** Update File: ” or “*** Delete File: ”`);
    const end = endOfPatch(lines, at + 1, last);
    const body = { lines, from: at + 1, to: end };
    const parsed =
      kind === 'Add'
        ? parseAdd(path.trim(), body)
        : kind === 'Delete'
          ? parseDelete(path.trim(), body)
          : parseUpdate(path.trim(), body);
    if (!parsed.ok) return parsed;
    patches.push(parsed.value);
    at = end;
  }
  return patches.length === 0 ? malformed(first + 1, 'it changes no file') : succeeded(patches);
}

interface Body {
  readonly lines: readonly string[];
  readonly from: number;
  readonly to: number;
}

function endOfPatch(lines: readonly string[], from: number, last: number): number {
  for (let at = from; at < last; at += 1) if (HEADER.test((lines[at] ?? '').trimEnd())) return at;
  return last;
}

function parseAdd(path: string, { lines, from, to }: Body): Result<FilePatch> {
  const content: string[] = [];
  for (let at = from; at < to; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('+')) content.push(line.slice(1));
    else if (line.trim() !== '') return malformed(at + 1, `a line of a file to add begins with +, not “${line}”`);
  }
  return succeeded({ type: 'add', path, content: content.map((line) => `${line}\n`).join('') });
}

function parseDelete(path: string, { lines, from, to }: Body): Result<FilePatch> {
  const stray = lines.slice(from, to).findIndex((line) => line.trim() !== '');
  if (stray !== -1) return malformed(from + stray + 1, 'nothing follows “*** Delete File: ”');
  return succeeded({ type: 'delete', path });
}

function parseUpdate(path: string, { lines, from, to }: Body): Result<FilePatch> {
  const moves = (lines[from] ?? '').startsWith(MOVE);
  const target = moves ? (lines[from] ?? '').slice(MOVE.length).trim() : undefined;
  const hunks: Hunk[] = [];
  let anchors: string[] = [];
  let open: { at: number; anchors: string[]; lines: Hunk['lines'][number][]; atEnd: boolean } | undefined;
  const close = () => {
    if (open !== undefined) hunks.push({ ...open, lines: withoutBlankEnd(open.lines) });
    open = undefined;
  };
  for (let at = from + (moves ? 1 : 0); at < to; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('@@')) {
      close();
      const anchor = line.slice(2).replace(/^ /, '').replace(/ @@$/, '');
      // Line numbers of a unified diff are ignored.
      if (anchor.trim() !== '' && !/^-\d+(,\d+)? \+\d+(,\d+)?( @@.*)?$/.test(anchor.trim())) anchors.push(anchor);
    } else if (line.trimEnd() === END_OF_FILE) {
      if (open !== undefined) open.atEnd = true;
      close();
    } else {
      open ??= { at: at + 1, anchors, lines: [], atEnd: false };
      anchors = [];
      const sign = line.charAt(0);
      // The space of an empty context line may have been trimmed.
      if (line === '') open.lines.push({ sign: ' ', text: '' });
      else if (sign === ' ' || sign === '-' || sign === '+') open.lines.push({ sign, text: line.slice(1) });
      else return malformed(at + 1, `a line of a hunk begins with a space, - or +, not “${line}”`);
    }
  }
  close();
  const idle = hunks.find((hunk) => hunk.lines.every(({ sign }) => sign === ' '));
  if (idle !== undefined) return malformed(idle.at, 'a hunk changes nothing: it has no line with - or +');
  if (hunks.length === 0 && target === undefined) return malformed(from, `there is no hunk for ${path}`);
  return succeeded({ type: 'update', path, ...defined({ to: target }), hunks });
}

/** Blank lines before the next header belong to the patch, not to the file. */
function withoutBlankEnd(lines: readonly Hunk['lines'][number][]): Hunk['lines'] {
  const last = lines.findLastIndex(({ sign, text }) => sign !== ' ' || text !== '');
  return lines.slice(0, last + 1);
}

function malformed(line: number, what: string): Result<never> {
  return failed(
    'bad_patch',
    `input: line ${line} of the patch: ${what}.`,
    'Nothing was changed. Send the whole patch again, corrected.',
  );
}
