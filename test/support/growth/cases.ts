// Builds the cases of the growth test: a function, and the texts that are repeated to make it slow.
import { fill, type Prepare } from './measure.ts';

interface GrowthCase {
  readonly prepare: Prepare;
  /** Characters, or pieces, of the smaller input. */
  readonly size: number;
}

export type GrowthCases = Readonly<Record<string, GrowthCase>>;

/** One case for each text, which is repeated; or for what makes a text of a given size. */
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
        // What fits to the end is often quick; what is disappointed there is not.
        const disappointed = `${input}x`;
        return () => [run(input), run(disappointed)];
      };
      return [`${name} ${label}`, { prepare, size }];
    }),
  );
}

/** The text comes in pieces of some characters. */
export function inPieces(text: string, length = 16): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += length) pieces.push(text.slice(at, at + length));
  return pieces;
}
