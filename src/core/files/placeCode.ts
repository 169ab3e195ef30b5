// Finds the lines of a file that a code block of an answer replaces: by declared names, then by similar lines. Pure.
import { nearestText } from './nearest.ts';

/** A declaration of the file, with lines counted from 0. */
export interface DeclaredSymbol {
  readonly name: string;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Members of a class, interface or namespace. Empty for functions: their local names are not places. */
  readonly members: readonly DeclaredSymbol[];
}

/** Replaces the lines from `firstLine` up to, without, `endLine`; the text is without the last line break. */
interface LineReplacement {
  readonly firstLine: number;
  readonly endLine: number;
  readonly text: string;
}

/** Where the code block belongs; `unknown` if no place was found. */
export type CodePlace = 'whole_file' | 'unknown' | readonly LineReplacement[];

const MOST_LINES = 50_000;
/** From this share of the file's lines on, a block that also contains the file's first line is the whole file. */
const WHOLE_SHARE = 0.5;
/** A class in the block that names fewer of its members is an excerpt, of which only the named members are replaced. */
const MEMBER_SHARE = 0.5;
const KEYWORDS = new Set(
  'async class const def enum fn func fun function impl interface let mod module namespace object record struct sub trait type union val var void'.split(
    ' ',
  ),
);
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#|--|<!--|;|%)/;
const ABOVE = /^\s*(?:\/\/|\/\*|\*|#(?!include)|--|@|\[)/;
const IMPORT = /^\s*(?:import\b|from\s+\S+\s+import\b|use\b|using\b|#include\b|(?:const|let|var)\b.*\brequire\()/;

export function placeCode(text: string, code: string, symbols: readonly DeclaredSymbol[]): CodePlace {
  const lines = text.split(/\r?\n/);
  const block = code.trimEnd().split(/\r?\n/);
  if (lines.length > MOST_LINES || block.length > MOST_LINES) return 'unknown';
  if (isWhole(lines, block)) return 'whole_file';
  const named = placeByName(lines, block, symbols);
  if (named !== undefined) return named;
  return block.some(isOmission) ? 'unknown' : (placeByLines(text, lines, block) ?? 'unknown');
}

function isWhole(lines: readonly string[], block: readonly string[]): boolean {
  const written = lines.map((line) => line.trim()).filter((line) => line !== '');
  const [first] = written;
  if (first === undefined) return true;
  if (block.some(isOmission)) return false;
  const offered = new Set(block.map((line) => line.trim()));
  const common = written.filter((line) => offered.has(line)).length;
  return offered.has(first) && common / written.length > WHOLE_SHARE;
}

/** A comment that stands for code which the answer leaves out, such as `// ... existing code ...`. */
function isOmission(line: string): boolean {
  const text = line.replace(/[^\p{L}\p{N}.…]/gu, '');
  const isMarked = /^(?:\.\.\.|…)/.test(text) || text.endsWith('...') || text.endsWith('…');
  return isMarked && (COMMENT.test(line) || text === '...' || text === '…');
}

/** Undefined if the block declares no known symbol, or leaves out lines inside one. */
function placeByName(
  lines: readonly string[],
  block: readonly string[],
  symbols: readonly DeclaredSymbol[],
): LineReplacement[] | undefined {
  const base = Math.min(...block.filter((line) => line.trim() !== '').map((line) => indentOf(line).length));
  const known = groupByName(symbols.flatMap(withMembers));
  const declared = block.flatMap((line, index) => {
    const outer = indentOf(line).length === base && !isOmission(line);
    const same = outer ? declaredIn(line, lines, known) : undefined;
    return same === undefined ? [] : [{ index, same }];
  });
  if (declared.length === 0) return undefined;
  const starts = declared.map(({ index }, at) =>
    startAbove(block, index, at === 0 ? 0 : (declared[at - 1]?.index ?? 0) + 1),
  );
  const placed: LineReplacement[] = [];
  const preamble = block.slice(0, starts[0]);
  const missing = preamble.filter((line) => IMPORT.test(line) && !lines.includes(line));
  if (missing.length > 0) placed.push(insertion(lines.findLastIndex((line) => IMPORT.test(line)) + 1, missing));
  const added = trimmed(preamble.filter((line) => !IMPORT.test(line) && !isOmission(line)));
  for (const [at, { index, same }] of declared.entries()) {
    const start = starts[at] ?? index;
    const own = trimmed(
      block.slice(start, starts[at + 1]).filter((line) => indentOf(line).length > base || !isOmission(line)),
    );
    const symbol = mostAlike(same, lines, own);
    const inner = excerptOf(lines, own.slice(index - start), symbol);
    if (inner !== undefined) {
      placed.push(...inner);
      continue;
    }
    if (own.some(isOmission)) return undefined;
    const first = start < index ? startAbove(lines, symbol.firstLine, 0) : symbol.firstLine;
    const whole = at === 0 && added.length > 0 ? [...added, '', ...own] : own;
    const text = indented(whole, base, indentOf(lines[symbol.firstLine] ?? ''));
    placed.push({ firstLine: first, endLine: symbol.lastLine + 1, text });
  }
  placed.sort((one, other) => one.firstLine - other.firstLine);
  // Two declarations of one symbol, or of a symbol and its member, have no common place.
  return placed.some((one, at) => one.firstLine < (placed[at - 1]?.endLine ?? 0)) ? undefined : placed;
}

/** The members that an excerpt of a class names; undefined if the block has the class as a whole. */
function excerptOf(
  lines: readonly string[],
  own: readonly string[],
  symbol: DeclaredSymbol,
): LineReplacement[] | undefined {
  if (symbol.members.length < 2) return undefined;
  const body = own.slice(1, -1);
  const known = groupByName(symbol.members);
  const named = new Set(body.flatMap((line) => declaredIn(line, lines, known)?.[0]?.name ?? []));
  const isExcerpt = own.some(isOmission) || named.size / symbol.members.length < MEMBER_SHARE;
  return isExcerpt && named.size > 0 ? placeByName(lines, body, symbol.members) : undefined;
}

function withMembers(symbol: DeclaredSymbol): DeclaredSymbol[] {
  return [symbol, ...symbol.members.flatMap(withMembers)];
}

function groupByName(symbols: readonly DeclaredSymbol[]): Map<string, DeclaredSymbol[]> {
  const known = new Map<string, DeclaredSymbol[]>();
  for (const symbol of symbols) known.set(symbol.name, [...(known.get(symbol.name) ?? []), symbol]);
  return known;
}

/** The symbols that this line of the block declares again: it names one after the same kind of words as the file. */
function declaredIn(
  line: string,
  lines: readonly string[],
  known: ReadonlyMap<string, readonly DeclaredSymbol[]>,
): readonly DeclaredSymbol[] | undefined {
  for (const { 0: name, index } of line.matchAll(/[\p{L}\p{N}_$]+/gu)) {
    const same = known.get(name)?.filter(({ firstLine, lastLine }) => {
      const declaration = lines.slice(firstLine, lastLine + 1).find((one) => one.includes(name)) ?? '';
      const before = lastWord(declaration.slice(0, declaration.indexOf(name)));
      const word = lastWord(line.slice(0, index));
      if (before === '') return word === '' && /[{:(,]\s*$|=>/.test(line) && line.trimStart().startsWith(name);
      return word === before || KEYWORDS.has(word);
    });
    if (same !== undefined && same.length > 0) return same;
  }
  return undefined;
}

function lastWord(text: string): string {
  const end = text.replaceAll(/[*&]/g, ' ').trimEnd();
  const word = [...end.matchAll(/[\p{L}\p{N}_$]+/gu)].at(-1)?.[0] ?? '';
  return end.endsWith(word) ? word : '';
}

/** The first of the comments and decorators directly above a declaration. */
function startAbove(lines: readonly string[], index: number, first: number): number {
  let start = index;
  while (start > first && ABOVE.test(lines[start - 1] ?? '') && !isOmission(lines[start - 1] ?? '')) start -= 1;
  return start;
}

function mostAlike(
  symbols: readonly DeclaredSymbol[],
  lines: readonly string[],
  own: readonly string[],
): DeclaredSymbol {
  const offered = new Set(own.map((line) => line.trim()));
  const common = ({ firstLine, lastLine }: DeclaredSymbol) =>
    lines.slice(firstLine, lastLine + 1).filter((line) => offered.has(line.trim())).length;
  return symbols.reduce((best, one) => (common(one) > common(best) ? one : best));
}

/** The lines most similar to the block, up to the block's last line if the file has it there. */
function placeByLines(text: string, lines: readonly string[], block: readonly string[]): LineReplacement[] | undefined {
  const near = nearestText(text, block.join('\n'));
  if (near === undefined) return undefined;
  const firstLine = near.firstLine - 1;
  const last = (block.at(-1) ?? '').trimEnd();
  const reach = lines.slice(firstLine, firstLine + 2 * block.length);
  const ends = reach.flatMap((line, index) => (line.trimEnd() === last ? [firstLine + index] : []));
  const distance = (line: number) => Math.abs(line - (near.lastLine - 1));
  const end = ends.reduce((best, one) => (distance(one) < distance(best) ? one : best), ends[0] ?? near.lastLine - 1);
  return [{ firstLine, endLine: end + 1, text: block.join('\n') }];
}

function insertion(line: number, added: readonly string[]): LineReplacement {
  return { firstLine: line, endLine: line, text: added.join('\n') };
}

function indentOf(line: string): string {
  return /^\s*/.exec(line)?.[0] ?? '';
}

function indented(block: readonly string[], base: number, indent: string): string {
  return block.map((line) => (line.trim() === '' ? '' : indent + line.slice(base))).join('\n');
}

function trimmed(block: readonly string[]): string[] {
  const first = block.findIndex((line) => line.trim() !== '');
  return first === -1 ? [] : block.slice(first, block.findLastIndex((line) => line.trim() !== '') + 1);
}
