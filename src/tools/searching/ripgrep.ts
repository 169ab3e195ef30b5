// Runs ripgrep without a shell or user configuration, and parses its output line by line.
import { type ChildProcess } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { describeError } from '../../base/errors.ts';
import { platform } from '../../node/platform/platform.ts';
import { spawnProgram } from '../../node/processTree.ts';
import {
  type FoundLine,
  isCaseSensitive,
  isMultiline,
  MOST_IN_ONE_FILE,
  type SearchEnd,
  type SearchQuery,
  type TakeLine,
} from './searchQuery.ts';

export interface RipgrepCall {
  readonly program: string;
  readonly query: SearchQuery;
  /** Globs are relative to this folder. */
  readonly folder: string;
  /** A path relative to the folder, or the text of an unsaved buffer. */
  readonly target: { readonly path: string } | { readonly text: string };
}

/** Longer lines of ripgrep's output, from files without line breaks, are skipped and reported as too large. */
const LONGEST_MESSAGE = 4_000_000;
const STDERR_KEPT = 2000;
/** Enough of a skipped line to contain the path. */
const PATH_KEPT = 20_000;

/** Resolves once the program has ended or was killed. */
export function runRipgrep(call: RipgrepCall, take: TakeLine, signal: AbortSignal): Promise<SearchEnd> {
  return new Promise((resolve) => {
    const child = spawnProgram(call.program, argumentsFor(call), call.folder, 'text' in call.target);
    let [full, complaint] = [false, ''];
    const stop = () => platform.processes.kill(child);
    const offer: TakeLine = (path, line) => {
      if (full || signal.aborted) return false;
      if (take(path, line)) return true;
      full = true;
      stop();
      return false;
    };
    readLines(child, {
      onLine: (line) => {
        const found = readMessage(line);
        found?.lines.every((one) => offer(found.path, one));
      },
      onTooLong: (start) => {
        const path = pathOfMessage(start);
        if (path !== undefined) offer(path, 'too_large');
      },
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
  return [
    ...['--json', '--no-config', '--no-messages', '--crlf', '--hidden'],
    ...(query.regex ? ['--engine=auto'] : ['--fixed-strings']),
    isCaseSensitive(query) ? '--case-sensitive' : '--ignore-case',
    // One match more than is shown, to notice that there are more. With `--multiline`, ripgrep would count all matches
    // of a line.
    isMultiline(query) ? '--multiline' : `--max-count=${MOST_IN_ONE_FILE + 1}`,
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

interface LineReader {
  onLine(line: string): void;
  /** Called once for each skipped line, with its beginning. */
  onTooLong(start: string): void;
}

function readLines(child: ChildProcess, { onLine, onTooLong }: LineReader): void {
  const decoder = new StringDecoder('utf8');
  let [rest, skipping] = ['', false];
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!skipping) onLine(line);
      skipping = false;
    }
    if (rest.length <= LONGEST_MESSAGE) return;
    if (!skipping) onTooLong(rest.slice(0, PATH_KEPT));
    [rest, skipping] = ['', true];
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

/** Undefined if it is neither a match nor a context line. A match may have several lines. */
function readMessage(message: string): { path: string; lines: readonly FoundLine[] } | undefined {
  if (!message.startsWith('{"type":"match"') && !message.startsWith('{"type":"context"')) return undefined;
  const { type, data } = JSON.parse(message) as Message;
  const text = decodeMatch(data.lines);
  // Offsets are in bytes.
  const at = Buffer.from(text)
    .subarray(0, data.submatches?.[0]?.start ?? 0)
    .toString('utf8').length;
  const lines = text.replace(/\n$/, '').split('\n');
  return {
    path: decodePath(data.path),
    lines: lines.map((line, index) => ({
      number: (data.line_number ?? 1) + index,
      text: line,
      ...(type === 'match' && { at: index === 0 ? at : 0 }),
    })),
  };
}

/** The path in the beginning of a message; undefined if it is neither a match nor a context line. */
function pathOfMessage(start: string): string | undefined {
  const path = /^\{"type":"(?:match|context)","data":\{"path":(\{"\w+":"(?:[^"\\]|\\.)*"\})/.exec(start)?.[1];
  return path === undefined ? undefined : decodePath(JSON.parse(path) as Bytes);
}

function decodePath(path: Bytes | undefined): string {
  return platform.programs.withSlashes(decodeMatch(path).replace(/^\.[\\/]/, ''));
}

function decodeMatch(value: Bytes | undefined): string {
  return value?.text ?? Buffer.from(value?.bytes ?? '', 'base64').toString('utf8');
}
