// The tool run_command: runs a shell command in a folder of the workspace, in the foreground or as a handle.
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { ignore } from '../../base/async.ts';
import { PlainTextStream } from '../../base/terminalText.ts';
import { type Failure } from '../../base/errors.ts';
import { type ConversationHandles, type Handle } from '../../core/ports/handles.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { describeCommandEnd, describeHandleState, describeSurvivors, isSuccess } from '../../core/tools/handleTexts.ts';
import { whyNotPatterns } from '../../core/notify/lines/linePatterns.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';
import { notifyOn, quietAfter } from '../../protocol/lines/lineWatch.ts';
import { wantedLines } from '../lineArguments.ts';
import { newOutput } from './commandOutput.ts';
import { shownByCommand } from './shownByCommand.ts';

const DEFAULT_SECONDS = 120;
const HEAD = 4000;
/** Most bytes that one live update shows. */
const LIVE_BYTES = 64 * 1024;

const ONLY_IN_BACKGROUND: Failure = {
  code: 'bad_arguments',
  message: 'notify_on, quiet_after_secs: only a command in the background is watched.',
  nextStep: 'Add background and handle, or leave them out.',
};

export const runCommandTool = defineTool({
  name: 'run_command',
  description:
    'Runs a shell command and returns its output and exit code. Needs the user’s approval. A foreground command has no input by default and is stopped after timeout_secs. Use background for servers, watchers and long builds: the command becomes a handle that keeps running after your turn; you are notified when it ends or seems to wait for input, and handle and await work with it. What it runs can notify you itself with "$EARSHOT_NOTIFY" TEXT. What a foreground command leaves running with & is ended with it; processes in a session of their own (setsid, daemons) are ended only if it is stopped; the result may name them.',
  effect: 'execute',
  traits: {
    guide:
      'Run what takes long (servers, watchers, long builds and tests) in the background and go on with other work; you are notified. Do not poll or sleep.',
    invalidatesReports: true,
    startsHandle: ({ background, handle }) => (background === true && typeof handle === 'string' ? handle : undefined),
  },
  emits: ['stopped', 'failed', 'waiting', 'lost', 'running'],
  arguments: {
    command: z.string().min(1).max(100_000).describe('Command line for the user’s shell'),
    folder: z.string().optional().describe('Workspace folder'),
    timeout_secs: z
      .int()
      .min(1)
      .max(3600)
      .optional()
      .describe(`Time limit of a foreground command in seconds; default ${DEFAULT_SECONDS}`),
    background: z.boolean().optional().describe('Start the command as a handle and return at once'),
    handle: z
      .string()
      .optional()
      .describe('Name that you choose for the handle, such as build or server; required with background'),
    notify_on: notifyOn.describe(
      'With background: notifies and wakes you when it prints a line with this text (* for anything) or /regex/',
    ),
    quiet_after_secs: quietAfter.describe('With background: or when it prints nothing for so long'),
    input: z.boolean().optional().describe('Keep the input of a foreground command open for the user or handle apply'),
  },
  touches: ({ command, folder }) => ({ command, folder }),
  whyNot: ({ background, handle, notify_on: patterns, quiet_after_secs: quiet }, { handles }) => {
    const wrong = whyNotPatterns(patterns ?? []);
    if (wrong !== undefined) return wrong;
    if (background !== true) return patterns === undefined && quiet === undefined ? undefined : ONLY_IN_BACKGROUND;
    if (handle !== undefined) return handles.whyNot(handle);
    const message = 'handle: a command in the background needs a name, such as build.';
    return { code: 'bad_arguments', message, nextStep: 'Call it again with one.' };
  },
  run: async (args, context) => {
    const { command, folder: wanted, timeout_secs: seconds = DEFAULT_SECONDS, background, handle: name, input } = args;
    const { workspace, handles, call } = context;
    const { folders } = workspace;
    const folder = wanted === undefined ? folders[0] : folders.find(({ path }) => path === wanted);
    if (folders.length === 0)
      return refuse('no_folder', 'No folder is open in the editor, so there is no place to run a command.');
    if (folder === undefined) {
      const names = folders.flatMap(({ path }) => (path === '' ? [] : [path])).join(', ');
      const next = names === '' ? 'There is only one: leave folder out.' : `Folders: ${names}.`;
      return refuse('no_folder', `There is no workspace folder “${wanted}”. ${next}`);
    }
    if (/^[a-z][\w+.-]+:\/\//i.test(folder.absolute)) {
      return refuse('bad_command', 'Commands cannot be run here: the workspace is not on a disk.');
    }
    const request = { call, command, folder: folder.absolute, input: background === true || input === true };
    const earlier = name === undefined ? undefined : handles.get(name);
    const lines = wantedLines(args);
    const started = await handles.start({ ...request, ...(background === true && { name, lines }) });
    if (!started.ok) return refuse(started.failure);
    context.observe(started.value.observed);
    if (background === true && name !== undefined)
      return describeStart(started.value, name, earlier, lines !== undefined);
    return runInForeground(started.value, handles, { command, seconds, folder: wanted }, context);
  },
});

function describeStart(handle: Handle, name: string, earlier: Handle | undefined, asked: boolean): ToolOutcome {
  const before = earlier === undefined ? '' : `\n(The earlier handle of this name ${describeHandleState(earlier)}.)`;
  const content = handle.hasEnded
    ? `The handle “${name}” ${describeHandleState(handle)}.`
    : `Started as the handle “${name}”. You are notified when it ends or seems to wait for input${asked ? ', and of the lines you asked for' : ''}; handle fetch shows its output.`;
  return { ...answer(content + before), handles: [handle.shown(name)] };
}

async function runInForeground(
  handle: Handle,
  handles: ConversationHandles,
  {
    command,
    seconds,
    folder,
  }: { readonly command: string; readonly seconds: number; readonly folder: string | undefined },
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
  const seen = await shownByCommand({ command, folder }, pieces, context);
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
      .catch(ignore)
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
