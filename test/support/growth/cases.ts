// Builds the cases of the growth test: a function, and texts that are repeated to make it slow.
import { fill, type Prepare } from './measure.ts';

interface GrowthCase {
  readonly prepare: Prepare;
  /** Size of the smaller input, in characters or pieces. */
  readonly size: number;
}

export type GrowthCases = Readonly<Record<string, GrowthCase>>;

/** One case for each text, which is repeated, or for each function that generates a text of a given size. */
export function over(
  name: string,
  run: (text: string) => unknown,
  texts: readonly (string | ((size: number) => string))[],
  size = 10_000,
): GrowthCases {
  return Object.fromEntries(
    texts.map((text, index) => {
      const make = typeof text === 'string' ? (length: number) => fill(text, length) : text;
      const label = typeof text === 'string' ? JSON.stringify(text) : `input ${index + 1}`;
      const prepare: Prepare = (length) => {
        const input = make(length);
        // A pattern that matches to the end is often fast; a mismatch at the end often is not.
        const mismatched = `${input}x`;
        return () => [run(input), run(mismatched)];
      };
      return [`${name} ${label}`, { prepare, size }];
    }),
  );
}

/** Splits the text into chunks. */
export function inPieces(text: string, length = 16): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}
