// The tool search: finds text in files of the workspace, unsaved changes included, and shows matches while it runs.
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import * as z from 'zod';
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { type Tool, type ToolContext } from '../../core/ports/ports.ts';
import { type FilePath, type Workspace } from '../../core/ports/workspace.ts';
import { answer, cancelled, defineTool, refuse } from '../defineTool.ts';
import { runRipgrep } from './ripgrep.ts';
import { shownLinesOf } from './shownLines.ts';
import { scanFiles } from './scanFiles.ts';
import {
  FoundLines,
  MOST_IN_ONE_FILE,
  MOST_MATCHES,
  type SearchEnd,
  type SearchQuery,
  type TakeLine,
  wantsPath,
} from './searchQuery.ts';

const LONGEST_MILLISECONDS = 60_000;
/** Of more files, or larger ones, changes are not reported. */
const MOST_FOLLOWED = 100;
const LARGEST_FOLLOWED = 1_000_000;
const globs = z.array(z.string().min(1).max(1000)).max(50);

export interface SearchDeps {
  /** Path of ripgrep; undefined if it is not installed. */
  ripgrep(): Promise<string | undefined>;
}

export function createSearchTool(deps: SearchDeps): Tool {
  return defineTool({
    name: 'search',
    description: `Searches the files of the workspace, unsaved changes included, and returns matching lines with line numbers, at most ${MOST_MATCHES}, and ${MOST_IN_ONE_FILE} of one file; it says if there are more. Prefer it to reading files one by one. Skips files ignored by .gitignore unless include_ignored is true. Narrow the search with path, include and exclude. For definitions and references of symbols prefer symbols.`,
    effect: 'read',
    arguments: {
      query: z.string().min(1).max(10_000).describe('Text to find; a regular expression if regex is true'),
      regex: z.boolean().optional().describe('query is a regular expression in ripgrep (Rust) syntax; default false'),
      path: z.string().min(1).optional().describe('Folder or file to search; default: the whole workspace'),
      include: globs
        .optional()
        .describe('Search only files that match one of these globs, such as *.ts or src/**/*.css'),
      exclude: globs.optional().describe('Skip files that match one of these globs'),
      case_sensitive: z.boolean().optional().describe('Match case; default: only if query has a capital letter'),
      context_lines: z.int().min(0).max(10).optional().describe('Lines to show before and after each match; default 0'),
      include_ignored: z.boolean().optional().describe('Also search files ignored by .gitignore; default false'),
    },
    touches: ({ path }) => ({ paths: path === undefined ? [] : [path] }),
    run: async (args, context) => {
      if (context.workspace.folders.length === 0) return refuse('no_folder', 'No folder is open in the editor.');
      const start = args.path === undefined ? undefined : await context.workspace.resolve(args.path);
      if (start?.ok === false) return refuse(start.failure);
      const query: SearchQuery = {
        text: args.query,
        regex: args.regex ?? false,
        caseSensitive: args.case_sensitive,
        include: args.include ?? [],
        exclude: args.exclude ?? [],
        contextLines: args.context_lines ?? 0,
        ignored: args.include_ignored ?? false,
      };
      const found = new FoundLines(context.progress);
      const places = new Map<string, string>();
      const end = await search({ deps, context, query, start: start?.value, places }, found.take);
      // ripgrep opens files itself, so matches behind links or in files that must not be shown are dropped here.
      await found.keepOnly(async (path) => {
        const absolute = places.get(path);
        return absolute === undefined || context.workspace.mayShow({ path, absolute });
      });
      const outcome = report(query, found, end);
      const seen = outcome.isError ? [] : await shownBy(found, context);
      return seen.length === 0 ? outcome : { ...outcome, seen };
    },
  });
}

/** The shown lines count as read, so that a later change of one is reported. */
async function shownBy(found: FoundLines, { workspace }: ToolContext): Promise<readonly ShownFile[]> {
  const shown: ShownFile[] = [];
  for (const [path, lines] of [...found.lines].slice(0, MOST_FOLLOWED)) {
    const file = await workspace.resolve(path);
    // Files outside the workspace are not watched.
    if (!file.ok || isAbsolute(file.value.path)) continue;
    const content = await workspace.read(file.value, { atMost: LARGEST_FOLLOWED });
    const text = content.ok ? await workspace.decode(file.value, content.value.bytes) : undefined;
    if (!content.ok || text === undefined) continue;
    const now = text.split(/\r?\n/);
    const numbers = [...lines].flatMap(([number, line]) =>
      now[number - 1] === line.replace(/\r?\n$/, '') ? number : [],
    );
    const one = shownLinesOf({ file: file.value, bytes: content.value.bytes, text }, numbers);
    if (one !== undefined) shown.push(one);
  }
  return shown;
}

interface Search {
  readonly deps: SearchDeps;
  readonly context: ToolContext;
  readonly query: SearchQuery;
  readonly start: FilePath | undefined;
  /** Filled with the absolute paths of files that ripgrep read. */
  readonly places: Map<string, string>;
}

async function search({ deps, context, query, start, places }: Search, take: TakeLine): Promise<SearchEnd> {
  const { workspace, signal } = context;
  // If the user allowed a hidden path by name, everything below it may be shown.
  const hides = (path: string) => context.hides(path) && !(start !== undefined && context.hides(start.path));
  const roots = start === undefined ? workspace.folders : [start];
  const timeout = AbortSignal.timeout(LONGEST_MILLISECONDS);
  const either = AbortSignal.any([signal, timeout]);
  const program = roots.some(isVirtual) ? undefined : await deps.ripgrep();
  const end =
    program === undefined
      ? await scanFiles({ workspace, query, roots, hides }, take, either)
      : await searchRoots(program, { workspace, query, roots, hides, places }, take, either);
  return end.type === 'cancelled' && !signal.aborted ? { type: 'timed_out' } : end;
}

interface Place {
  readonly workspace: Workspace;
  readonly query: SearchQuery;
  readonly roots: readonly FilePath[];
  readonly places: Map<string, string>;
  hides(path: string): boolean;
}

/** Searches buffers first: they are few, and their content replaces the files on disk. */
async function searchRoots(program: string, place: Place, take: TakeLine, signal: AbortSignal): Promise<SearchEnd> {
  const { query, roots, hides, workspace, places } = place;
  const unsaved = new Map(workspace.unsaved().map((file) => [file.path, file]));
  const wanted = wantsPath(query);
  for (const file of unsaved.values()) {
    if (hides(file.path) || !wanted(file.path) || !roots.some((root) => isBelow(root, file))) continue;
    const content = await workspace.read(file);
    const text = content.ok ? await workspace.decode(file, content.value.bytes) : undefined;
    if (text === undefined) continue;
    const call = { program, query, folder: dirname(file.absolute), target: { text } };
    const end = await runRipgrep(call, (_, line) => take(file.path, line), signal);
    if (end.type !== 'ended') return end;
  }
  for (const root of roots) {
    const folder = workspace.folders.find((one) => isBelow(one, root));
    const base = folder ?? { path: dirname(root.path), absolute: dirname(root.absolute) };
    const prefix = base.path === '' || base.path === '.' ? '' : `${base.path}/`;
    const target = { path: relative(base.absolute, root.absolute).split(sep).join('/') };
    const end = await runRipgrep(
      { program, query, folder: base.absolute, target },
      (inner, line) => {
        const path = prefix + inner;
        if (unsaved.has(path) || hides(path)) return true;
        places.set(path, join(base.absolute, inner));
        return take(path, line);
      },
      signal,
    );
    if (end.type !== 'ended') return end;
  }
  return { type: 'ended' };
}

function isVirtual({ absolute }: FilePath): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(absolute);
}

function isBelow(folder: FilePath, file: FilePath): boolean {
  const inner = relative(folder.absolute, file.absolute);
  return inner !== '..' && !inner.startsWith(`..${sep}`);
}

function report(query: SearchQuery, found: FoundLines, end: SearchEnd) {
  if (end.type === 'cancelled') return cancelled();
  if (end.type === 'refused') return refuse('bad_arguments', `It could not be searched: ${end.reason}`);
  const notes = [...found.printTooLarge(), ...noteOf(end)];
  if (found.matches > 0) return answer([found.print(), ...notes].join('\n'));
  const plain = !query.regex && /[.*+?^${}()|[\]\\]/.test(query.text);
  const hint = plain ? ['(It was looked for as plain text; regex makes it a regular expression.)'] : [];
  return answer(['Nothing was found.', ...hint, ...notes].join('\n'));
}

function noteOf(end: SearchEnd): string[] {
  if (end.type === 'full') return ['(There is more: narrow it with path, include or a longer query.)'];
  if (end.type === 'timed_out')
    return [
      `(It was stopped after ${LONGEST_MILLISECONDS / 1000} s; there may be more: narrow it with path or include.)`,
    ];
  if (end.type === 'limited')
    return [`(Only the first ${end.files} files were looked at: narrow it with path or include.)`];
  return [];
}
