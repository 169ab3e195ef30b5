// Highlights the lines of a diff: each side is highlighted as a whole, then split into lines.
import { type Coloured, highlight } from '../markdown/highlight.ts';
import { visibleText } from '../visibleText.ts';

/** The file extension; highlight.js accepts most extensions as language names. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Parallel to the lines; undefined if they are not highlighted. */
export function colouredLines(lines: readonly string[], language: string): (readonly Coloured[])[] | undefined {
  const side = (without: string) => {
    const own = lines
      .map((line, index) => [line, index] as const)
      .filter(([line]) => !line.startsWith(without) && !line.startsWith('\\'));
    const coloured = highlight(own.map(([line]) => visibleText(line.slice(1))).join('\n'), language);
    return coloured && new Map(splitLines(coloured).map((parts, place) => [own[place]?.[1] ?? -1, parts]));
  };
  const [after, before] = [side('-'), side('+')];
  if (after === undefined || before === undefined) return undefined;
  return lines.map((line, index) => after.get(index) ?? before.get(index) ?? [line.slice(1)]);
}

/** A scope that spans several lines is closed at each line's end and opened again on the next. */
function splitLines(parts: readonly Coloured[]): Coloured[][] {
  const lines: Coloured[][] = [[]];
  for (const part of parts) {
    const pieces =
      typeof part === 'string'
        ? part.split('\n').map((text) => (text === '' ? [] : [text]))
        : splitLines(part.children).map((children) => (children.length === 0 ? [] : [{ scope: part.scope, children }]));
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) lines.push([]);
      lines.at(-1)?.push(...piece);
    }
  }
  return lines;
}
