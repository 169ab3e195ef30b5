// Decides how a name that somebody else chose is written into a sentence: on one line, and never reordered by what is in it.

/** What ends a line, moves a cursor, reorders text or cannot be seen. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]/g;
const LONGEST = 300;

/** As it is, if it is harmless; else in quotes, with what is not written out as `\u202e`. */
export function printPath(path: string): string {
  const bounded = path.length <= LONGEST ? path : `${path.slice(0, LONGEST / 2)}…${path.slice(-LONGEST / 2)}`;
  if (bounded.search(UNSAFE) === -1) return bounded;
  return `"${bounded.replace(/["\\]/g, '\\$&').replace(UNSAFE, escape)}"`;
}

/** A command of several lines on one. */
export function printCommandLine(command: string): string {
  const lines = command.split('\n').map((line) => line.trim());
  return printPath(lines.filter((line) => line !== '').join(' ⏎ ')).replaceAll('`', 'ˋ');
}

function escape(character: string): string {
  if (character === '\n') return '\\n';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
