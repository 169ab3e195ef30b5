// The tool await: waits for background commands or a condition, and returns early when the user writes or something
// urgent is pending.
import * as z from 'zod';
import { parseCondition } from '../../core/conversation/conditions.ts';
import { type ConversationHandles, type Handle } from '../../core/ports/handles.ts';
import { type Clock, type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { describeHandleState, describeLastOutput } from '../../core/tools/handleTexts.ts';
import { type Wakes } from '../../core/wakes/wakes.ts';
import { answer, cancelled, defineTool, refuse } from '../defineTool.ts';

const DEFAULT_SECONDS = 300;
const LAST_LINES = 900;
/** Characters of a subagent's answer. */
const MOST_ANSWER = 12_000;
const names = z.array(z.string().min(1)).min(1).max(50);

export interface AwaitDeps {
  /** Absent: conditions cannot be awaited. */
  readonly wakes?: Pick<Wakes, 'until'>;
  readonly clock?: Clock;
}

export function createAwaitTool({ wakes, clock }: AwaitDeps = {}) {
  const condition = z.record(z.string(), z.unknown()).describe('Instead of names: a condition as in wake_when');
  return defineTool({
    name: 'await',
    description:
      'Waits until background commands and subagents (handles) end. Handles started by other calls of the same message count. Default: until any running handle ends. Returns early when the user writes, a handle seems to wait for input, or an urgent notification arrives. Does not stop what it waits for.',
    effect: 'read',
    traits: { guide: 'Call await when nothing is left to do before a background command or a subagent ends.' },
    arguments: {
      any: names.optional().describe('Handle names; returns when the first of them ends'),
      all: names.optional().describe('Handle names; returns when all of them have ended'),
      ...(wakes !== undefined && { when: condition.optional() }),
      timeout_secs: z.int().min(1).max(3600).optional().describe(`Longest wait in seconds; default ${DEFAULT_SECONDS}`),
    },
    whyNot: ({ any, all, when }) => {
      const given = Object.entries({ any, all, when }).filter(([, one]) => one !== undefined);
      const both = given.map(([name]) => name).join(', ');
      if (given.length > 1) return { code: 'bad_arguments', message: `${both}: give one of them, not both.` };
      const parsed = when === undefined ? undefined : parseCondition(when, clock?.now() ?? 0);
      return parsed?.ok === false ? parsed.failure : undefined;
    },
    run: async ({ any, all, when, timeout_secs: seconds = DEFAULT_SECONDS }, context) => {
      if (when !== undefined && wakes !== undefined) return waitUntil(wakes, { when, seconds, clock }, context);
      const { handles } = context;
      const wanted =
        any ?? all ?? handles.all.filter((handle) => !handle.hasEnded).flatMap((handle) => handle.name ?? []);
      if (wanted.length === 0)
        return refuse('not_running', 'Nothing runs in the background, so there is nothing to wait for.');
      return wait(handles, { names: [...new Set(wanted)], all: all !== undefined, seconds }, context);
    },
  });
}

/** Waits for a condition. */
async function waitUntil(
  wakes: Pick<Wakes, 'until'>,
  { when, seconds, clock }: { readonly when: unknown; readonly seconds: number; readonly clock: Clock | undefined },
  context: ToolContext,
): Promise<ToolOutcome> {
  const condition = parseCondition(when, clock?.now() ?? 0);
  if (!condition.ok) return refuse(condition.failure);
  const done = new AbortController();
  const limit = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([context.signal, limit, done.signal]);
  const interruption = context.interruption(signal).then((what) => {
    if (what !== '') done.abort();
    return what;
  });
  const waited = await wakes.until(context.conversation, condition.value, signal);
  done.abort();
  if (context.signal.aborted) return cancelled();
  const what = await interruption;
  if (!waited.ok) return refuse(waited.failure);
  const { truth, lines } = waited.value;
  const early = what === '' ? `(The ${seconds} s are over.)` : `(Returned early: ${what}.)`;
  const head = { yes: 'It holds.', never: 'It cannot hold any more.', no: early, unknown: early }[truth];
  return answer([head, ...lines].join('\n'));
}

interface Wait {
  readonly names: readonly string[];
  readonly all: boolean;
  readonly seconds: number;
}

async function wait(handles: ConversationHandles, wanted: Wait, context: ToolContext): Promise<ToolOutcome> {
  const done = new AbortController();
  const limit = AbortSignal.timeout(wanted.seconds * 1000);
  const signal = AbortSignal.any([context.signal, limit, done.signal]);
  const interruption = context.interruption(signal).then((what) => {
    if (what !== '') done.abort();
    return what;
  });
  const found = await Promise.all(
    wanted.names.map(async (name) => {
      const handle = await handles.awaitStart(name, signal);
      await handle?.until((now) => now.hasEnded || now.state === 'waiting', signal);
      // A handle that waits for input ends the wait, since only the model can answer it.
      if (!wanted.all || handle === undefined || handle.state === 'waiting') done.abort();
      return { name, handle };
    }),
  );
  const cutShort = done.signal.aborted && !found.some(isEnough(wanted));
  done.abort();
  if (context.signal.aborted) return cancelled();
  const what = await interruption;
  const missing = found.filter(({ handle }) => handle === undefined).map(({ name }) => name);
  if (missing.length > 0 && what === '' && !limit.aborted) {
    return refuse(
      'no_handle',
      `There is no handle ${missing.map((name) => `“${name}”`).join(', ')}. handle list shows them.`,
    );
  }
  const reason =
    cutShort && what !== ''
      ? [`(Returned early: ${what}.)`]
      : limit.aborted
        ? [`(The ${wanted.seconds} s are over.)`]
        : [];
  return describeWaited(found, reason);
}

interface NamedHandle {
  readonly name: string;
  readonly handle: Handle | undefined;
}

function isEnough({ all }: Wait): (found: NamedHandle) => boolean {
  return ({ handle }) => handle?.state === 'waiting' || (!all && handle?.hasEnded === true);
}

async function describeWaited(found: readonly NamedHandle[], reason: readonly string[]): Promise<ToolOutcome> {
  const lines = await Promise.all(
    found.map(async ({ name, handle }) => {
      if (handle === undefined) return `${name}: not started yet.`;
      const state = `${name}: ${describeHandleState(handle)}.`;
      return handle.hasEnded ? `${state}${await describeLastOutput(handle, LAST_LINES, MOST_ANSWER)}` : state;
    }),
  );
  const shown = found.flatMap(({ name, handle }) => (handle === undefined ? [] : [handle.shown(name)]));
  return { ...answer([...lines, ...reason].join('\n')), handles: shown };
}
