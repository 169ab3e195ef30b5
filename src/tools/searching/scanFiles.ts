// Searches files without ripgrep: a bounded walk, with matching in a thread that can be terminated.
import { Worker } from 'node:worker_threads';
import { hasNul } from '../../base/encodings.ts';
import { describeError } from '../../base/errors.ts';
import { type FilePath, type FolderEntry, type Workspace } from '../../core/ports/workspace.ts';
import {
  type FoundLine,
  isCaseSensitive,
  isMultiline,
  type SearchEnd,
  type SearchQuery,
  type TakeLine,
  wantsPath,
} from './searchQuery.ts';

const MOST_FILES = 20_000;
const LARGEST_FILE = 1_000_000;
const ONE_FILE_MILLISECONDS = 2000;
const REPOSITORIES = new Set(['.git', '.hg', '.svn']);
const IGNORED = new Set([...REPOSITORIES, 'node_modules', '__pycache__', '.venv']);
const ONE_LINE_ONLY =
  'without ripgrep, which is not available here, text of several lines is not found. Search for one of the lines.';

export interface Scan {
  readonly workspace: Workspace;
  readonly query: SearchQuery;
  readonly roots: readonly FilePath[];
  hides(path: string): boolean;
}

/** Like ripgrep, but matches single lines and does not read `.gitignore`; skips a fixed list of folders instead. */
export async function scanFiles(scan: Scan, take: TakeLine, signal: AbortSignal): Promise<SearchEnd> {
  if (isMultiline(scan.query)) return { type: 'refused', reason: ONE_LINE_ONLY };
  const skipped = scan.query.ignored ? REPOSITORIES : IGNORED;
  const matcher = createMatcher(scan.query);
  const wanted = wantsPath(scan.query);
  const queue: FilePath[] = [...scan.roots];
  let files = 0;
  try {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (signal.aborted) return { type: 'cancelled' };
      const entries = await scan.workspace.list(next);
      // Not a folder, so it is a file.
      const inside: readonly FolderEntry[] = entries.ok ? entries.value : [{ name: '', kind: 'file' }];
      for (const entry of [...inside].sort((a, b) => (a.name < b.name ? 1 : -1))) {
        const file = entry.name === '' ? next : below(next, entry.name);
        if (entry.kind === 'folder' && !skipped.has(entry.name)) queue.push(file);
        if (entry.kind !== 'file' || scan.hides(file.path) || !wanted(file.path)) continue;
        if (++files > MOST_FILES) return { type: 'limited', files: MOST_FILES };
        const end = await searchFile({ workspace: scan.workspace, file, matcher }, take, signal);
        if (end !== undefined) return end;
      }
    }
    return { type: 'ended' };
  } finally {
    await matcher.end();
  }
}

function below(folder: FilePath, name: string): FilePath {
  const path = folder.path === '' ? name : `${folder.path}/${name}`;
  return { path, absolute: `${folder.absolute.replace(/\/$/, '')}/${name}` };
}

async function searchFile(
  { workspace, file, matcher }: { workspace: Workspace; file: FilePath; matcher: Matcher },
  take: TakeLine,
  signal: AbortSignal,
): Promise<SearchEnd | undefined> {
  const content = await workspace.read(file);
  if (!content.ok) {
    if (content.failure.code === 'too_big') take(file.path, 'too_large');
    return undefined;
  }
  const { bytes } = content.value;
  if (bytes.length > LARGEST_FILE) {
    if (!hasNul(bytes)) take(file.path, 'too_large');
    return undefined;
  }
  const text = await workspace.decode(file, bytes);
  if (text === undefined) return undefined;
  const found = await matcher.match(text);
  if (typeof found === 'string') return { type: 'refused', reason: found };
  const wanted = found.every((line) => take(file.path, line));
  if (signal.aborted) return { type: 'cancelled' };
  return wanted ? undefined : { type: 'full' };
}

interface Matcher {
  /** The matching lines with context, or why the pattern cannot be used. */
  match(text: string): Promise<readonly FoundLine[] | string>;
  end(): Promise<unknown>;
}

/** A pattern can take forever on certain lines; the thread is terminated then. */
function createMatcher(query: SearchQuery): Matcher {
  const worker = new Worker(MATCH, {
    eval: true,
    workerData: {
      source: query.regex ? query.text : query.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
      flags: isCaseSensitive(query) ? 'u' : 'iu',
      around: query.contextLines,
    },
  });
  let answer: (found: readonly FoundLine[] | string) => void = () => undefined;
  worker.on('message', (found: readonly FoundLine[] | string) => answer(found));
  worker.on('error', (error) => answer(describeError(error)));
  return {
    match: (text) =>
      new Promise((resolve) => {
        const tooLong = `The pattern took longer than ${ONE_FILE_MILLISECONDS / 1000} s for one file. Simplify it.`;
        const timer = setTimeout(() => answer(tooLong), ONE_FILE_MILLISECONDS);
        answer = (found) => {
          clearTimeout(timer);
          resolve(found);
        };
        worker.postMessage(text);
      }),
    end: () => worker.terminate(),
  };
}

/** Source of the thread, as text, since the bundle has no separate file for it. */
const MATCH = `
const { parentPort, workerData: { source, flags, around } } = require('node:worker_threads');
let pattern;
let fault;
try { pattern = new RegExp(source, flags); } catch (error) { fault = error.message; }
parentPort.on('message', (text) => {
  if (fault !== undefined) return parentPort.postMessage(fault);
  const lines = text.split(/\\r?\\n/);
  const hits = new Map();
  lines.forEach((line, index) => {
    const found = pattern.exec(line);
    if (found !== null) hits.set(index, found.index);
  });
  const shown = new Set([...hits.keys()].flatMap((hit) =>
    Array.from({ length: 2 * around + 1 }, (_, step) => hit - around + step)));
  const found = [...shown].filter((index) => index >= 0 && index < lines.length).sort((a, b) => a - b)
    .map((index) => ({ number: index + 1, text: lines[index], ...(hits.has(index) && { at: hits.get(index) }) }));
  parentPort.postMessage(found);
});
`;
