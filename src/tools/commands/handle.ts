// The tool handle: lists background commands, fetches their output, writes to their input and ends them.
import { countOf } from '../../base/text.ts';
import * as z from 'zod';
import { describeFailure } from '../../base/errors.ts';
import { type ConversationHandles, type Handle } from '../../core/ports/handles.ts';
import { type ToolOutcome } from '../../core/ports/ports.ts';
import { describeHandleState, describeLastOutput } from '../../core/tools/handleTexts.ts';
import { whyNotPatterns } from '../../core/notify/lines/linePatterns.ts';
import { type WantedLines } from '../../core/ports/producers.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';
import { notifyOn, quietAfter } from '../../protocol/lines/lineWatch.ts';
import { wantedLines } from '../lineArguments.ts';
import { newOutput, type OutputPart, outputPage } from './commandOutput.ts';

/** How long to wait for output after input was written. */
const REACTION_MILLISECONDS = 1500;
const LAST_LINES = 900;

export const handleTool = defineTool({
  name: 'handle',
  description:
    'Manages background commands and subagents (handles). list: all handles and their states. fetch: the state and the output since the last fetch, or with from a page of output. apply: writes text and a line break to the input of a command; needs the user’s approval. abort: ends it and everything it started. notify_on: replaces the lines of a command that you are notified of; without any, none. To wait for a handle use await.',
  effect: 'execute',
  traits: { restOf: ['tool', 'output'] },
  // Input to a shell is executed.
  effectFor: ({ action }) => (action === 'apply' ? 'execute' : 'read'),
  arguments: {
    action: z.enum(['list', 'fetch', 'apply', 'abort', 'notify_on']),
    name: z.string().optional().describe('Name of the handle; required except for list'),
    from: z.int().min(0).optional().describe('For fetch: byte of the output to start at'),
    text: z.string().max(100_000).optional().describe('For apply: text to write; may be empty'),
    no_newline: z.boolean().optional().describe('For apply: do not add the line break; default false'),
    end_input: z.boolean().optional().describe('For apply: close its input after the text; default false'),
    notify_on: notifyOn,
    quiet_after_secs: quietAfter,
  },
  touches: ({ action, text = '' }) => (action === 'apply' ? { onlyOnce: true, input: text } : {}),
  whyNot: ({ action, name, text, notify_on: patterns = [] }, { handles }) => {
    if (action === 'list') return undefined;
    const wrong = whyNotPatterns(patterns);
    if (wrong !== undefined) return wrong;
    if (name === undefined)
      return { code: 'bad_arguments', message: `name: ${action} needs the name of a handle. ${namesOf(handles)}` };
    if (handles.get(name) === undefined)
      return { code: 'no_handle', message: `name: there is no handle “${name}”. ${namesOf(handles)}` };
    return action === 'apply' && text === undefined
      ? { code: 'bad_arguments', message: 'text: apply needs the text to type; it may be empty.' }
      : undefined;
  },
  run: async (args, { handles, signal }) => {
    const { action, name = '', from, text = '', no_newline: bare, end_input: last } = args;
    if (action === 'list') return listHandles(handles);
    const handle = handles.get(name);
    if (handle === undefined) return refuse('no_handle', `name: there is no handle “${name}”. ${namesOf(handles)}`);
    switch (action) {
      case 'fetch':
        return from === undefined ? fetchNew(handle, name, handles) : fetchPage(handle, name, from);
      case 'apply': {
        const typed = bare === true || text.endsWith('\n') ? text : `${text}\n`;
        return writeInput({ handle, name, handles, signal }, last === true && text === '' ? '' : typed, last === true);
      }
      case 'abort':
        return abort(handle, name);
      case 'notify_on':
        return watchLines(handle, name, handles, wantedLines(args));
    }
  },
});

function namesOf(handles: ConversationHandles): string {
  const names = handles.all.map((handle) => handle.name);
  return names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}.`;
}

function listHandles(handles: ConversationHandles): ToolOutcome {
  const lines = handles.all.map(
    (handle) => `${handle.name ?? ''}: ${describeHandleState(handle)}. ${handle.process.command}`,
  );
  const shown = handles.all.flatMap((handle) => (handle.name === undefined ? [] : [handle.shown(handle.name)]));
  return { ...answer(lines.length === 0 ? 'There are no handles.' : lines.join('\n')), handles: shown };
}

async function fetchNew(handle: Handle, name: string, handles: ConversationHandles): Promise<ToolOutcome> {
  // Read before the output, so that output printed meanwhile counts as new at the next fetch.
  const since = handles.shownThrough(name);
  const part = await newOutput(handle, since);
  const rest = part.cut ? `\n(More was printed since byte ${since}: fetch with from ${since} shows it in pages.)` : '';
  const content = part.through === since ? 'Nothing new was printed.' : `${printed(part)}${rest}`;
  return {
    ...answer(`${content}\n(${name}: ${describeHandleState(handle)})`),
    handles: [handle.shown(name, part.through)],
  };
}

async function fetchPage(handle: Handle, name: string, from: number): Promise<ToolOutcome> {
  const { size } = handle.process.status;
  if (from > size) return refuse('bad_arguments', `from: it has printed only ${countOf(size, 'byte')}.`);
  const part = await outputPage(handle, from);
  const lost = part.cut ? [`(The first ${part.from} bytes are not kept any more.)`] : [];
  const next = part.through < size ? [`(It goes on: from ${part.through}; ${size} bytes in all.)`] : [];
  const content = [...lost, part.text, ...next, `(${name}: ${describeHandleState(handle)})`].join('\n');
  return { ...answer(content), handles: [handle.shown(name)] };
}

async function writeInput(
  to: { handle: Handle; name: string; handles: ConversationHandles; signal: AbortSignal },
  text: string,
  last: boolean,
): Promise<ToolOutcome> {
  const { handle, name, handles, signal } = to;
  if (handle.hasEnded) return refuse('not_running', `Nothing was typed: “${name}” ${describeHandleState(handle)}.`);
  const { size } = handle.process.status;
  const written = await handle.write(text, last);
  if (!written.ok) return refuse(written.failure.code, `Nothing was typed: ${describeFailure(written.failure)}`);
  const enough = AbortSignal.any([signal, AbortSignal.timeout(REACTION_MILLISECONDS)]);
  await handle.until((one) => one.hasEnded || one.process.status.size > size, enough);
  return fetchNew(handle, name, handles);
}

async function watchLines(
  handle: Handle,
  name: string,
  handles: ConversationHandles,
  lines: WantedLines | undefined,
): Promise<ToolOutcome> {
  if (handle.process.agent !== undefined) {
    return refuse('bad_arguments', `name: “${name}” is a subagent, which prints no lines. Its end is reported.`);
  }
  if (handle.hasEnded)
    return refuse('not_running', `“${name}” ${describeHandleState(handle)}; it prints nothing more.`);
  await handles.watchLines(name, lines ?? { patterns: [] });
  const content = lines === undefined ? 'You are no longer notified of its lines.' : 'You are notified of these lines.';
  return { ...answer(`${content} (${name}: ${describeHandleState(handle)})`), handles: [handle.shown(name)] };
}

async function abort(handle: Handle, name: string): Promise<ToolOutcome> {
  const before = handle.hasEnded;
  await handle.stop('you aborted it');
  const state = `${name}: ${describeHandleState(handle)}${before ? '; it had ended before' : ''}.`;
  const content = `${state}${await describeLastOutput(handle, LAST_LINES)}`;
  return { ...answer(content), handles: [handle.shown(name)] };
}

function printed({ text }: OutputPart): string {
  return text.trimEnd();
}
