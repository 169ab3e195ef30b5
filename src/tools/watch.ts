// The tool watch: subscribes to files by glob, and to lines that are written to a file. Both are projected from the log.
import * as z from 'zod';
import { defined } from '../base/json/defined.ts';
import { printPath } from '../base/printPath.ts';
import { countOf } from '../base/text.ts';
import { type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { changeWatches, describeWatches, MOST_WATCHES } from '../core/conversation/watching.ts';
import { GLOB_LIMIT } from '../core/files/globs.ts';
import { MARK_BYTES, markOf } from '../core/notify/lines/lineMark.ts';
import { whyNotPatterns } from '../core/notify/lines/linePatterns.ts';
import { type LineWatch } from '../core/ports/producers.ts';
import { type ToolContext } from '../core/ports/ports.ts';
import {
  LINE_WAKE_DAYS,
  type LinePosition,
  MOST_LINE_WAKES,
  type TailArguments as Tail,
  tailArguments,
} from '../protocol/lines/lineWatch.ts';
import { fileScope, nameInScope } from '../protocol/scopes.ts';
import { answer, defineTool, refuse } from './defineTool.ts';
import { wantedLines } from './lineArguments.ts';

const MOST_TAILS = 20;
const globs = z.array(z.string().min(1).max(GLOB_LIMIT)).max(MOST_WATCHES);
export const watchTool = defineTool({
  name: 'watch',
  description:
    'Adds or removes glob patterns such as src/**/*.ts: you are notified when matching files are created or changed, even if you have not read them. At most 100 patterns. Without arguments it lists all. Files you have read are watched anyway.',
  effect: 'read',
  traits: { changesWatches: true },
  arguments: {
    add: globs.optional().describe('Patterns to watch, relative to the workspace, with / as separator'),
    remove: globs.optional().describe('Patterns to stop watching, exactly as they were added'),
    tail: z
      .array(tailArguments)
      .optional()
      .describe('Lines of a growing file, such as a log, as for run_command. wake needs approval'),
    untail: z.array(z.string()).optional(),
  },
  // A file may be written by anybody, so that only the user can allow its lines to wake the model.
  touches: ({ tail = [] }) => (tail.some(wakes) ? { onlyOnce: true, wakes: describeGrant(tail.filter(wakes)) } : {}),
  whyNot: ({ tail = [] }) => whyNotTails(tail),
  run: async ({ tail = [], untail = [], ...change }, context) => {
    const changed = changeWatches(context.watches, change);
    if (!changed.ok) return refuse(changed.failure);
    const tailed = await changeTails({ tail, untail }, context);
    if (!tailed.ok) return refuse(tailed.failure);
    return answer([describeWatches(changed.value), ...tailed.value].join('\n'));
  },
});

export function whyNotTails(tail: readonly Tail[]): Failure | undefined {
  for (const [index, { notify_on: patterns, quiet_after_secs: quiet }] of tail.entries()) {
    const wrong = whyNotPatterns(patterns ?? [], `tail.${index}.notify_on`);
    if (wrong !== undefined) return wrong;
    if ((patterns ?? []).length > 0 || quiet !== undefined) continue;
    return { code: 'bad_arguments', message: `tail.${index}: it needs notify_on or quiet_after_secs.` };
  }
  return undefined;
}

/** Resolves to what is tailed afterwards, in no or one line. */
export async function changeTails(
  { tail, untail }: { readonly tail: readonly Tail[]; readonly untail: readonly string[] },
  context: Pick<ToolContext, 'lines' | 'workspace' | 'watchLines'>,
  outside = 'run_command with background, tail -F and notify_on follows a file outside the workspace.',
): Promise<Result<readonly string[]>> {
  const tails = tailsOf(context.lines);
  const unknown = untail.find((path) => !tails.has(path));
  if (unknown !== undefined)
    return failed('bad_arguments', `untail: ${unknown} is not tailed. ${describeTails(tails)}`);
  const opened: { readonly tail: Tail; readonly target: string; readonly position: LinePosition }[] = [];
  for (const [index, one] of tail.entries()) {
    const found = await openTail(one, context, { field: `tail.${index}.path`, outside });
    if (!found.ok) return found;
    opened.push({ tail: one, ...found.value });
  }
  if (new Set([...tails.keys(), ...opened.map(({ target }) => nameOf(target))]).size - untail.length > MOST_TAILS) {
    return failed('bad_arguments', `tail: at most ${MOST_TAILS} files can be tailed. ${describeTails(tails)}`);
  }
  for (const path of untail) await context.watchLines(fileScope(path), { patterns: [] }, { through: 0 });
  for (const { tail: one, target, position } of opened) {
    await context.watchLines(target, wantedLines(one) ?? { patterns: [] }, position, wakes(one));
  }
  for (const path of untail) tails.delete(path);
  for (const { tail: one, target } of opened) tails.set(nameOf(target), one.notify_on ?? []);
  return succeeded(tails.size === 0 ? [] : [describeTails(tails)]);
}

/** For people: what, how often, how long. */
function describeGrant(tails: readonly Tail[]): string {
  const names = tails.map(({ path }) => printPath(path)).join(', ');
  const patterns = tails.flatMap(({ notify_on: patterns = [] }) => patterns).join(', ');
  return `it may start turns without you, at most ${MOST_LINE_WAKES} within ${LINE_WAKE_DAYS} d: “${names}”, ${patterns}.`;
}

function wakes({ wake }: Tail): boolean {
  return wake === true;
}

interface TailNames {
  /** The argument that names the file. */
  readonly field: string;
  /** The next step for a file outside the workspace. */
  readonly outside: string;
}

/** Lines are counted from its present end on; a file that does not exist yet, from its beginning. */
async function openTail(
  { path }: Tail,
  { workspace }: Pick<ToolContext, 'workspace'>,
  names: TailNames,
): Promise<Result<{ readonly target: string; readonly position: LinePosition }>> {
  const place = await workspace.resolve(path);
  if (!place.ok) return named(place.failure, names);
  const target = fileScope(place.value.path);
  const read = await workspace.read(place.value, { part: { from: 0, length: 0 } });
  if (!read.ok) {
    return read.failure.code === 'not_found'
      ? succeeded({ target, position: { through: 0 } })
      : named(read.failure, names);
  }
  const from = Math.max(0, (read.value.size ?? 0) - MARK_BYTES);
  const last = await workspace.read(place.value, { part: { from, length: MARK_BYTES } });
  if (!last.ok) return named(last.failure, names);
  const { bytes, identity: file, modified, born } = last.value;
  const through = from + bytes.length;
  return succeeded({ target, position: { through, ...defined({ file, modified, born, mark: markOf(bytes) }) } });
}

function named({ code, message }: Failure, { field, outside }: TailNames): Result<never> {
  return failed(code, `${field}: ${message}`, code === 'outside' ? outside : 'Nothing is watched by this call.');
}

function nameOf(target: string): string {
  return nameInScope('file', target) ?? target;
}

function tailsOf(lines: ReadonlyMap<string, LineWatch>): Map<string, LineWatch['patterns']> {
  const files = [...lines.values()].filter(({ target }) => nameInScope('file', target) !== undefined);
  return new Map(files.map(({ target, patterns }) => [nameOf(target), patterns]));
}

function describeTails(tails: ReadonlyMap<string, LineWatch['patterns']>): string {
  const named = [...tails].map(([path, patterns]) => `${path} (${patterns.join(', ') || 'silence'})`);
  return tails.size === 0 ? 'No file is tailed.' : `${countOf(tails.size, 'file')} tailed: ${named.join(', ')}.`;
}
