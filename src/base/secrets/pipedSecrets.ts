// Finds secrets that a command line passes to a program's standard input: by `echo … |`, a here-string or a here-document.
import { type TextRange } from './tokenShapes.ts';

/** Programs and options that read a secret from standard input. */
const READS_SECRET =
  /--(?:password|passphrase|token|secret|pass)-stdin\b|--with-token\b|--pass(?:phrase|word)-fd[= ]0\b|\bsudo\b[^|;&]{0,40} -\w?S\b|\bchpasswd\b|\bpasswd\b[^|;&]{0,40}--stdin\b|\bsecrets? (?:set|put|create|add)\b|-pass(?:in|out)? stdin\b|\bcryptsetup\b/;
const PRINTS = /^\s*(?:\$\s+)?(?:echo|printf|print|write-output|write-host)\s+(?:-[neE]{1,3}\s+)*/i;
const QUOTED = /^\s*(?:\$\s+)?(?=["'])/;
const VARIABLE = /^(["']?)(?:\$\{?[A-Z_][A-Z\d_]*\}?|\$env:\w+|%[A-Z_]+%|\$\([^)]*\))\1$/;

interface Part extends TextRange {
  /** Its output is the input of the next part. */
  readonly piped: boolean;
}

/** In the order of the text, without overlaps. */
export function findPipedSecrets(text: string): TextRange[] {
  const found: TextRange[] = [];
  let start = 0;
  // A line that ends in a backslash or a pipe continues.
  for (const line of text.split(/(?<![\\|])\n/)) {
    // Lines of a here-document are masked already.
    if (start >= (found.at(-1)?.end ?? 0) && READS_SECRET.test(line)) {
      const parts = partsOf(line);
      let reads = false;
      const inLine: TextRange[] = [];
      for (const part of parts.reverse()) {
        const words = line.slice(part.start, part.end);
        const isPrinted: boolean = part.piped && reads;
        reads = READS_SECRET.test(words) || isPrinted;
        const range = isPrinted ? printedBy(words) : reads ? hereString(words) : undefined;
        if (range !== undefined) inLine.unshift(moved(range, start + part.start));
      }
      found.push(...inLine);
      const document = hereDocument(text, line, start);
      if (document !== undefined) found.push(document);
    }
    start += line.length + 1;
  }
  return found;
}

function printedBy(words: string): TextRange | undefined {
  const head = (PRINTS.exec(words) ?? QUOTED.exec(words))?.[0];
  if (head === undefined) return undefined;
  const printed = words.slice(head.length).trimEnd();
  const isKnown = printed === '' || VARIABLE.test(printed);
  return isKnown ? undefined : { start: head.length, end: head.length + printed.length };
}

function hereString(words: string): TextRange | undefined {
  const at = words.indexOf('<<<');
  if (at === -1) return undefined;
  const value = words.slice(at + 3).trim();
  const start = words.indexOf(value, at + 3);
  return value === '' || VARIABLE.test(value) ? undefined : { start, end: start + value.length };
}

function hereDocument(text: string, line: string, start: number): TextRange | undefined {
  const word = /(?<!<)<<-?\s{0,4}(["']?)(\w{1,60})\1/.exec(line)?.[2];
  if (word === undefined) return undefined;
  const from = start + line.length + 1;
  let to = from;
  while (to < text.length) {
    const end = text.indexOf('\n', to);
    const next = text.slice(to, end === -1 ? text.length : end);
    if (next.trim() === word) break;
    to = end === -1 ? text.length + 1 : end + 1;
  }
  return to - 1 > from ? { start: from, end: to - 1 } : undefined;
}

/** The commands of a line, as far as quotes allow. */
function partsOf(line: string): Part[] {
  const parts: Part[] = [];
  let [start, quote] = [0, ''];
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '\\' && quote !== "'") at += 1;
    else if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (/[|;&]/.test(character)) {
      const next = line.charAt(at + 1);
      parts.push({ start, end: at, piped: character === '|' && next !== '|' && line.charAt(at - 1) !== '|' });
      start = at + 1;
    }
  }
  return [...parts, { start, end: line.length, piped: false }];
}

function moved({ start, end }: TextRange, by: number): TextRange {
  return { start: start + by, end: end + by };
}
