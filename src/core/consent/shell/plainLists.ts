// Splits a line for fish, PowerShell or cmd.exe into plain commands, as far as that is certain.
import { plainWords, trimBlanks } from './plainWords.ts';
import { type ShellSyntax } from './script.ts';

interface Lists {
  readonly operators: RegExp;
  readonly quotes: string;
  readonly comments: boolean;
}

const LISTS: Partial<Readonly<Record<ShellSyntax, Lists>>> = {
  fish: { operators: /&&|\|\||[;|\n]/y, quotes: `'"`, comments: true },
  powershell: { operators: /&&|\|\||[;|\n]/y, quotes: `'"`, comments: true },
  cmd: { operators: /&&|\|\||[&|]/y, quotes: '"', comments: false },
};
/** Redirections that join streams or discard them. */
const QUIET = /(?:\d|\*)?>(?:&\d|\s*(?:\/dev\/null|\$null|nul)(?=\s|$))/giy;

/** The words of each command, in order. Undefined: not certain. */
export function plainLists(line: string, syntax: ShellSyntax): readonly (readonly string[])[] | undefined {
  const lists = LISTS[syntax];
  if (lists === undefined) return undefined;
  const commands: string[] = [];
  let [command, start] = ['', 0];
  const match = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(line)?.[0].length ?? 0;
  };
  for (let at = 0; at < line.length; ) {
    const character = line[at] ?? '';
    const begins = at === 0 || ' \t\n'.includes(line[at - 1] ?? '');
    let length = 0;
    if (lists.quotes.includes(character)) {
      const end = line.indexOf(character, at + 1);
      if (end === -1) return undefined;
      at = end + 1;
      continue;
    }
    if (begins && character === '#' && lists.comments) length = lengthOfLine(line, at);
    else if (begins) length = match(QUIET, at);
    if (length > 0) {
      command += line.slice(start, at);
      at = start = at + length;
      continue;
    }
    length = match(lists.operators, at);
    if (length > 0) {
      commands.push(command + line.slice(start, at));
      [command, at, start] = ['', at + length, at + length];
    } else at += 1;
  }
  commands.push(command + line.slice(start));
  const read = commands.filter((one) => trimBlanks(one, ' \t\n') !== '').map((one) => plainWords(one, syntax));
  return read.every((words) => words !== undefined) ? read : undefined;
}

function lengthOfLine(line: string, from: number): number {
  const end = line.indexOf('\n', from);
  return (end === -1 ? line.length : end) - from;
}
