// Runs ripgrep without a shell or user configuration, and parses its output line by line.
import { type ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { describeError } from '../../base/errors.ts';
import { endGroup, spawnProgram } from '../../node/processTree.ts';
import { type FoundLine, isCaseSensitive, type SearchEnd, type SearchQuery } from './searchQuery.ts';

export interface RipgrepCall {
  readonly program: string;
  readonly query: SearchQuery;
  /** Globs are relative to this folder. */
  readonly folder: string;
  /** A path relative to the folder, or the text of an unsaved buffer. */
  readonly target: { readonly path: string } | { readonly text: string };
}

/** Longer lines of ripgrep's output, from files without line breaks, are skipped. */
const LONGEST_MESSAGE = 4_000_000;
const STDERR_KEPT = 2000;
const MOST_IN_ONE_FILE = 100;

type Taken = (path: string, line: FoundLine) => boolean;

/** Resolves once the program has ended or was killed. */
export function runRipgrep(call: RipgrepCall, take: Taken, signal: AbortSignal): Promise<SearchEnd> {
  return new Promise((resolve) => {
    const child = spawnProgram(call.program, argumentsFor(call), call.folder, 'text' in call.target);
    let [full, complaint] = [false, ''];
    const stop = () => endGroup(child);
    readLines(child, (line) => {
      const found = readMessage(line);
      if (found === undefined || full || signal.aborted || take(found.path, found.line)) return;
      full = true;
      stop();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      if (complaint.length < STDERR_KEPT) complaint += chunk.toString('utf8');
    });
    const finish = (end: SearchEnd) => {
      signal.removeEventListener('abort', stop);
      resolve(signal.aborted ? { type: 'cancelled' } : end);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    child.once('error', (error) => finish({ type: 'refused', reason: `ripgrep: ${describeError(error)}` }));
    child.once('close', (code) => {
      // 1: nothing found. 2: an error; without a message it was an unreadable file.
      const refused = code !== 0 && code !== 1 && !full && complaint.trim() !== '';
      if (refused) finish({ type: 'refused', reason: complaint.replace(/^rg: /, '').trim().slice(0, STDERR_KEPT) });
      else finish({ type: full ? 'full' : 'ended' });
    });
    if ('text' in call.target) feed(child, call.target.text);
  });
}

function argumentsFor({ query, target }: RipgrepCall): string[] {
  const multiline = query.regex ? /\\n|\n/.test(query.text) : query.text.includes('\n');
  return [
    ...['--json', '--no-config', '--no-messages', '--crlf', '--hidden', `--max-count=${MOST_IN_ONE_FILE}`],
    ...(query.regex ? ['--engine=auto'] : ['--fixed-strings']),
    isCaseSensitive(query) ? '--case-sensitive' : '--ignore-case',
    ...(multiline ? ['--multiline'] : []),
    ...(query.contextLines > 0 ? [`--context=${query.contextLines}`] : []),
    ...(query.ignored ? ['--no-ignore'] : []),
    ...query.include.map((glob) => `--glob=${glob.replace(/^!/, '\\!')}`),
    ...query.exclude.map((glob) => `--glob=!${glob}`),
    '--glob=!.git',
    `--regexp=${query.text}`,
    '--',
    // With `./`, a leading dash is part of the name.
    'path' in target ? `./${target.path}` : '-',
  ];
}

function feed(child: ChildProcess, text: string): void {
  // The program may exit before it has read all input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(text);
}

function readLines(child: ChildProcess, take: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let [rest, skipping] = ['', false];
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!skipping) take(line);
      skipping = false;
    }
    if (rest.length > LONGEST_MESSAGE) [rest, skipping] = ['', true];
  });
}

interface Bytes {
  readonly text?: string;
  /** Base64 if it is not UTF-8. */
  readonly bytes?: string;
}

interface Message {
  readonly type: string;
  readonly data: {
    readonly path?: Bytes;
    readonly lines?: Bytes;
    readonly line_number?: number | null;
    readonly submatches?: readonly { readonly start: number }[];
  };
}

/** Undefined if it is neither a match nor a context line. */
function readMessage(line: string): { path: string; line: FoundLine } | undefined {
  if (!line.startsWith('{"type":"match"') && !line.startsWith('{"type":"context"')) return undefined;
  const { type, data } = JSON.parse(line) as Message;
  const text = decodeMatch(data.lines);
  const path = decodeMatch(data.path)
    .replace(/^\.[\\/]/, '')
    .replaceAll('\\', process.platform === 'win32' ? '/' : '\\');
  const number = data.line_number ?? 1;
  if (type !== 'match') return { path, line: { number, text } };
  // Offsets are in bytes.
  const at = Buffer.from(text)
    .subarray(0, data.submatches?.[0]?.start ?? 0)
    .toString('utf8').length;
  return { path, line: { number, text, at } };
}

function decodeMatch(value: Bytes | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? '', 'base64').toString('utf8');
}
