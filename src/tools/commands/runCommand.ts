// The tool run_command: runs a shell command in the workspace's first folder, in the foreground or as a handle.
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { PlainTextStream } from '../../base/terminalText.ts';
import { type ConversationHandles, type Handle } from '../../core/ports/handles.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { describeCommandEnd, describeHandleState, describeSurvivors, isSuccess } from '../../core/tools/handleTexts.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';
import { newOutput } from './commandOutput.ts';
import { shownByCommand } from './shownByCommand.ts';

const DEFAULT_SECONDS = 120;
const HEAD = 4000;
/** Most bytes that one live update shows. */
const LIVE_BYTES = 64 * 1024;

export const runCommandTool = defineTool({
  name: 'run_command',
  description:
    'Runs a shell command in the first workspace folder and returns its output and exit code. Needs the user’s approval. A foreground command has no input (unless input is true) and is stopped after timeout_secs. Use background for servers, watchers and long builds: the command becomes a handle that keeps running after your turn; you are notified when it ends or seems to wait for input, and handle and await work with it. Processes that a foreground command leaves running with & are ended with it. Processes in a session of their own (setsid, daemons) are ended only if the command is stopped; otherwise they keep running and, on Linux, the result names them.',
  effect: 'execute',
  traits: {
    guide:
      'Run what takes long (servers, watchers, long builds and tests) in the background and go on with other work; you are notified. Do not poll and do not sleep.',
    invalidatesReports: true,
    startsHandle: ({ background, handle }) => (background === true && typeof handle === 'string' ? handle : undefined),
  },
  emits: ['stopped', 'failed', 'waiting', 'lost', 'running'],
  arguments: {
    command: z.string().min(1).max(100_000).describe('Command line for the user’s shell'),
    timeout_secs: z
      .int()
      .min(1)
      .max(3600)
      .optional()
      .describe(`Time limit of a foreground command in seconds; default ${DEFAULT_SECONDS}`),
    background: z.boolean().optional().describe('Start the command as a handle and return at once; default false'),
    handle: z
      .string()
      .optional()
      .describe('Name that you choose for the handle, such as build or server; required with background'),
    input: z
      .boolean()
      .optional()
      .describe('Keep the input of a foreground command open for the user or handle apply; default false'),
  },
  touches: ({ command }) => ({ command }),
  whyNot: ({ background, handle }, { handles }) => {
    if (background !== true) return undefined;
    if (handle !== undefined) return handles?.whyNot(handle);
    const message = 'handle: a command in the background needs a name, such as build.';
    return { code: 'bad_arguments', message, nextStep: 'Call it again with one.' };
  },
  run: async ({ command, timeout_secs: seconds = DEFAULT_SECONDS, background, handle: name, input }, context) => {
    const { workspace, handles, call } = context;
    const folder = workspace.folders[0];
    if (folder === undefined)
      return refuse('no_folder', 'No folder is open in the editor, so there is no place to run a command.');
    if (handles === undefined || /^[a-z][\w+.-]+:\/\//i.test(folder.absolute)) {
      return refuse('bad_command', 'Commands cannot be run here: the workspace is not on a disk.');
    }
    const request = { call, command, folder: folder.absolute, input: background === true || input === true };
    const earlier = name === undefined ? undefined : handles.get(name);
    const started = await handles.start({ ...request, ...(background === true && { name }) });
    if (!started.ok) return refuse(started.failure);
    context.observe(started.value.observed);
    if (background === true && name !== undefined) return describeStart(started.value, name, earlier);
    return runInForeground(started.value, handles, { command, seconds }, context);
  },
});

function describeStart(handle: Handle, name: string, earlier: Handle | undefined): ToolOutcome {
  const before = earlier === undefined ? '' : `\n(The earlier handle of this name ${describeHandleState(earlier)}.)`;
  const content = handle.hasEnded
    ? `The handle “${name}” ${describeHandleState(handle)}.`
    : `Started as the handle “${name}”. You are notified when it ends or seems to wait for input; handle fetch shows its output.`;
  return { ...answer(content + before), handles: [handle.shown(name)] };
}

async function runInForeground(
  handle: Handle,
  handles: ConversationHandles,
  { command, seconds }: { readonly command: string; readonly seconds: number },
  context: ToolContext,
): Promise<ToolOutcome> {
  const { signal, progress } = context;
  const stopShowing = showLive(handle, progress);
  const limit = AbortSignal.timeout(seconds * 1000);
  // A command that waits for input becomes a handle, so that the model can answer.
  const isOver = (one: Handle) => one.hasEnded || one.isMoved || one.state === 'waiting';
  await handle.until(isOver, AbortSignal.any([signal, limit]));
  stopShowing();
  if (!handle.hasEnded && !signal.aborted && (handle.isMoved || handle.state === 'waiting')) {
    return handedOver(handle, await handles.keep(handle));
  }
  if (signal.aborted) await handle.stop('cancelled by the user');
  else if (!handle.hasEnded) await handle.stop(`it ran longer than ${seconds} s`);
  const { pieces, ...outcome } = await foregroundResult(handle, handles, signal.aborted);
  const seen = await shownByCommand(command, pieces, context);
  return seen.length === 0 ? outcome : { ...outcome, seen };
}

async function handedOver(handle: Handle, name: string): Promise<ToolOutcome> {
  const { text, through } = await newOutput(handle, 0, HEAD);
  const why = handle.isMoved ? 'The user moved it to the background' : 'It was moved to the background';
  const how = `(${why}: it goes on as the handle “${name}”, ${describeHandleState(handle)}. handle and await work with it.)`;
  return { ...answer(join(text, how)), handles: [handle.shown(name, through)] };
}

async function foregroundResult(
  handle: Handle,
  handles: ConversationHandles,
  cancelled: boolean,
): Promise<ToolOutcome & { readonly pieces: readonly string[] }> {
  const { text, through, cut, pieces } = await newOutput(handle, 0, HEAD);
  const { status } = handle.process;
  const isError = !isSuccess(status);
  const line = cancelled ? 'Cancelled by the user.' : endLine(handle);
  if (!cut) {
    await handles.drop(handle);
    return { content: join(text, line), isError, pieces };
  }
  const name = await handles.keep(handle);
  const rest = `(${through} bytes in all: handle fetch ${name} with from has what was left out.)`;
  return { content: join(text, `${rest}\n${line}`), isError, handles: [handle.shown(name, through)], pieces };
}

function endLine({ process }: Handle): string {
  const { end, lost } = process.status;
  if (lost === true || end === undefined) return '(It was lost: the process that supervised it is gone.)';
  const notes = [
    ...(end.left === true ? ['(What it had left running in the background was ended. Use background for that.)'] : []),
    ...survivorNote(end),
    ...(end.outputProblem === undefined ? [] : [`(Not all of its output could be kept: ${end.outputProblem}.)`]),
  ];
  return [...notes, plainEnd(end)].join('\n');
}

function survivorNote(end: NonNullable<Handle['process']['status']['end']>): string[] {
  const survivors = describeSurvivors(end);
  return survivors === undefined ? [] : [`(Note: ${survivors}.)`];
}

function plainEnd(end: NonNullable<Handle['process']['status']['end']>): string {
  switch (end.cause) {
    case 'exited':
      return end.code === null ? `(ended by ${end.signal ?? 'a signal'})` : `(exit code ${end.code})`;
    case 'stopped':
      return `(stopped: ${end.reason ?? 'unknown reason'})`;
    case 'not_started':
      return `It could not be started: ${end.reason ?? 'unknown reason'}`;
    case 'unowned':
      return `(${describeCommandEnd(end)})`;
  }
}

/** Streams the output to the card; the returned function stops it. */
function showLive(handle: Handle, progress: (text: string) => void): () => void {
  const decoder = new StringDecoder('utf8');
  const plain = new PlainTextStream();
  let shown = 0;
  let reading: Promise<void> | undefined;
  const watch = new AbortController();
  const show = async () => {
    while (!watch.signal.aborted && shown < handle.process.status.size) {
      const { size } = handle.process.status;
      shown = Math.max(shown, size - LIVE_BYTES);
      const { from, bytes } = await handle.process.read(shown, size - shown);
      if (bytes.length === 0) return;
      shown = from + bytes.length;
      const text = plain.take(decoder.write(bytes));
      if (text !== '') progress(text);
    }
  };
  const update = () => {
    // Only for display: a read error occurs again where the result matters.
    reading ??= show()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
  };
  const listening = handle.onDidChange(update);
  update();
  return () => {
    watch.abort();
    listening.dispose();
  };
}

function join(text: string, line: string): string {
  return [text.trimEnd(), line].filter((part) => part !== '').join('\n');
}
