// Finds the text of a file that is most similar to a text it does not contain, to show a model its mistake. Pure.

const MOST_LINES = 50_000;
const CANDIDATES = 20;
const COMPARED_CHARACTERS = 200;
const ALIKE = 0.5;
const SHOWN_CHARACTERS = 1500;

export interface Nearest {
  readonly firstLine: number;
  readonly lastLine: number;
  /** Exactly as in the file, possibly cut. */
  readonly text: string;
  /** Only white space within lines, or empty lines around the text, differ. */
  readonly onlySpace: boolean;
}

/** Undefined if nothing in the text is similar enough to the wanted one. */
export function nearestText(text: string, wanted: string): Nearest | undefined {
  const lines = text.split(/\r?\n/);
  const asked = wanted.split(/\r?\n/);
  const sought = asked.slice(
    asked.findIndex((line) => line !== ''),
    asked.findLastIndex((line) => line !== '') + 1,
  );
  if (lines.length > MOST_LINES || sought.every((line) => line.trim() === '')) return undefined;
  const best = bestWindow(lines, sought);
  if (best === undefined || best.score < ALIKE) return undefined;
  const found = lines.slice(best.first, best.first + sought.length);
  const shown = found.join('\n');
  return {
    firstLine: best.first + 1,
    lastLine: best.first + found.length,
    text: shown.length > SHOWN_CHARACTERS ? `${shown.slice(0, SHOWN_CHARACTERS)}…` : shown,
    onlySpace: found.map(bare).join('\n') === sought.map(bare).join('\n'),
  };
}

function bare(line: string): string {
  return line.replace(/\s+/g, '');
}

/** Compares the longest line first, and whole windows only where that line matches well. */
function bestWindow(lines: readonly string[], sought: readonly string[]): { first: number; score: number } | undefined {
  const anchor = sought.reduce(
    (best, line, index) => (line.trim().length > (sought[best] ?? '').trim().length ? index : best),
    0,
  );
  const pairs = pairsOf(sought[anchor] ?? '');
  const candidates = lines
    .map((line, index) => ({ first: index - anchor, score: likeness(pairs, pairsOf(line)) }))
    .filter(({ first, score }) => first >= 0 && score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, CANDIDATES);
  const soughtPairs = sought.map(pairsOf);
  return candidates
    .map(({ first }) => {
      const scores = soughtPairs.map((one, index) => likeness(one, pairsOf(lines[first + index] ?? '')));
      return { first, score: scores.reduce((sum, score) => sum + score, 0) / scores.length };
    })
    .sort((a, b) => b.score - a.score)[0];
}

type Pairs = ReadonlyMap<string, number>;

function pairsOf(line: string): Pairs {
  const letters = bare(line).slice(0, COMPARED_CHARACTERS);
  const pairs = new Map<string, number>();
  for (let index = 0; index < Math.max(1, letters.length - 1); index += 1) {
    const pair = letters.slice(index, index + 2);
    if (pair !== '') pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice coefficient: twice the common pairs, divided by all pairs. 1: equal; 0: nothing in common. */
function likeness(one: Pairs, other: Pairs): number {
  const count = (pairs: Pairs) => [...pairs.values()].reduce((sum, times) => sum + times, 0);
  const all = count(one) + count(other);
  if (all === 0) return 1;
  let both = 0;
  for (const [pair, times] of one) both += Math.min(times, other.get(pair) ?? 0);
  return (2 * both) / all;
}
