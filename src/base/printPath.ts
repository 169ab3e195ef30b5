// Prints names that others chose, such as paths and commands, safely on one line of text.

/** Line ends, and characters that move the cursor, reorder text or are invisible. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]/g;
const LONGEST = 300;

/** For sentences: like `printWholePath`, but a long path is shortened in the middle. */
export function printPath(path: string): string {
  return printWholePath(path.length <= LONGEST ? path : `${path.slice(0, LONGEST / 2)}…${path.slice(-LONGEST / 2)}`);
}

/** Unchanged if it has no unsafe characters; otherwise in quotes, with those escaped as `\u202e`. */
export function printWholePath(path: string): string {
  if (path.search(UNSAFE) === -1) return path;
  return `"${path.replace(/["\\]/g, '\\$&').replace(UNSAFE, escape)}"`;
}

/** Prints the words of a command so that it is clear where each one ends. */
export function printWords(words: readonly string[]): string {
  return words.map(printWord).join(' ');
}

function printWord(word: string): string {
  if (/^[\w@%+=:,./${}-]+$/.test(word)) return word;
  const printed = printWholePath(word);
  return printed === word ? JSON.stringify(word) : printed;
}

/** Joins the lines of a command into one. */
export function printCommandLine(command: string): string {
  const lines = command.split('\n').map((line) => line.trim());
  return printPath(lines.filter((line) => line !== '').join(' ⏎ ')).replaceAll('`', 'ˋ');
}

function escape(character: string): string {
  if (character === '\n') return '\\n';
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
