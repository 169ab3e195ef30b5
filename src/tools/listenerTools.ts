// The tools of conversations that outside agents have: earlier notifications, timers and conditions, lines of files.
// Their arguments are checked as those of the model.
import * as z from 'zod';
import { type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { linesWatched, watchLinesAsleep } from '../core/conversation/lines/watchLines.ts';
import { type Listener } from '../core/listener.ts';
import { type Clock, type Ids, type ToolContext, type ToolOutcome } from '../core/ports/ports.ts';
import { type Workspace } from '../core/ports/workspace.ts';
import { type Handles } from '../core/tools/handles.ts';
import { parseArguments } from '../protocol/describeIssue.ts';
import { tailArguments } from '../protocol/lines/lineWatch.ts';
import { type CalledTool } from '../protocol/outside/listener.ts';
import { wakeArguments } from '../protocol/wakes.ts';
import { readNotificationsOf } from './readNotifications.ts';
import { changeTails, whyNotTails } from './watch.ts';
import { changeWakes, type WakeWhenDeps, whyNotWake } from './wakeWhen.ts';

export interface ListenerToolsDeps extends WakeWhenDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly handles: Pick<Handles, 'of'>;
  readonly workspace: Workspace;
}

type Call = (listener: Listener, args: Readonly<Record<string, unknown>>) => Promise<Result<string>>;

export function createListenerTools(deps: ListenerToolsDeps) {
  const calls: Readonly<Record<CalledTool, Call>> = {
    wake_when: (listener, args) => callWakeWhen(deps, listener, args),
    tail: (listener, args) => callTail(deps, listener, args),
  };
  return {
    read: readNotificationsOf,
    call: async (listener: Listener, tool: CalledTool, args: Readonly<Record<string, unknown>>) => {
      await listener.log.repair();
      return calls[tool](listener, args);
    },
  };
}

const parseWake = parseArguments(z.strictObject(wakeArguments));

/** The agent has asked its user, who also installed what wakes it: there is nobody here to ask again. */
async function callWakeWhen(
  deps: ListenerToolsDeps,
  { log }: Listener,
  args: Readonly<Record<string, unknown>>,
): Promise<Result<string>> {
  const parsed = parseWake(args);
  if (!parsed.ok) return parsed;
  const { signal } = new AbortController();
  const context = { conversation: log.id, call: deps.ids.ulid(), handles: deps.handles.of(log), signal };
  const impossible = await whyNotWake(deps, parsed.value, context);
  return impossible === undefined ? resultOf(await changeWakes(deps, parsed.value, context)) : failure(impossible);
}

const parseTails = parseArguments(
  z.strictObject({ tail: z.array(tailArguments).default([]), untail: z.array(z.string()).default([]) }),
);
const CANNOT_WAKE =
  'a file may be written by anybody, and there is nobody here who could allow that its lines wake you';
const WAKE_ONCE = 'Without it you are notified; wake_when {notified: "output.matched"} wakes you once.';
const INSIDE = 'Only files of the folder can be tailed.';

async function callTail(
  { clock, workspace }: ListenerToolsDeps,
  { log }: Listener,
  args: Readonly<Record<string, unknown>>,
): Promise<Result<string>> {
  const parsed = parseTails(args);
  if (!parsed.ok) return parsed;
  const { tail, untail } = parsed.value;
  const impossible = whyNotTails(tail);
  if (impossible !== undefined) return failure(impossible);
  const waking = tail.findIndex(({ wake }) => wake === true);
  if (waking >= 0) return failed('bad_arguments', `tail.${waking}.wake: ${CANNOT_WAKE}.`, WAKE_ONCE);
  const context: Pick<ToolContext, 'lines' | 'workspace' | 'watchLines'> = {
    lines: log.state.lines.all,
    workspace,
    watchLines: (target, lines, position) => watchLinesAsleep(log, clock, linesWatched(target, lines, position)),
  };
  const changed = await changeTails({ tail, untail }, context, INSIDE);
  return changed.ok ? succeeded(changed.value.join('\n') || 'No file is tailed.') : changed;
}

function resultOf({ content, isError, failure: code = 'plugin' }: ToolOutcome): Result<string> {
  return isError ? failed(code, content) : succeeded(content);
}

function failure(reason: Failure): Result<never> {
  return { ok: false, failure: reason };
}
