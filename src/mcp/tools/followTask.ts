// Follows a call that its server runs as a task: the call waits for a while, then the task continues as a handle.
import { type FailureCode } from '../../base/failureCodes.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { describeHandleState } from '../../core/tools/handleTexts.ts';
import { realClock } from '../../node/realClock.ts';
import { elicit } from '../elicitation.ts';
import { type McpServer } from '../server.ts';
import { CallTimer } from '../session/callTimer.ts';
import { type McpContent, type TaskAnswer } from '../session/sessionPort.ts';
import { resultText } from './contentText.ts';
import { TaskProcess } from './taskProcess.ts';
import * as z from 'zod';
import { type ShownMedia } from '../../core/ports/shownMedia.ts';
import { CARD_MEDIA_TYPES, MOST_CARD_MEDIA } from '../../protocol/page/cardMedia.ts';

/** How long the call itself waits for its task to end, not counting questions to the user. */
const FOREGROUND_MILLISECONDS = 20_000;
const MOST_SHOWN = 28_000;

interface StartedTask {
  /** The name under which the model called it. */
  readonly tool: string;
  readonly server: McpServer;
  readonly reference: string;
}

export async function followTask(
  task: StartedTask,
  { signal, ask, call, progress, observe, handles }: ToolContext,
): Promise<ToolOutcome> {
  const { server } = task;
  const wait = new CallTimer(FOREGROUND_MILLISECONDS);
  /** While the call waits, questions of the task go to the user. */
  const whileWaiting = {
    isOver: false,
    ask: (params: unknown) =>
      wait.paused(() => elicit(server.name, params, { ask }, (url) => server.host.openExternal(url))),
    progress,
  };
  const process = createTaskProcess(task, whileWaiting);
  const handle = await handles.adopt(call, process);
  observe(handle.observed);
  process.follow();
  await handle.until((one) => one.hasEnded || one.isMoved, AbortSignal.any([signal, wait.signal]));
  wait.dispose();
  whileWaiting.isOver = true;
  if (signal.aborted && !handle.hasEnded) {
    await handle.stop('cancelled by the user');
    return { ...refuse('cancelled', 'Cancelled by the user.'), handles: [handle.shown(handle.name)] };
  }
  return describeTaskOutcome(process, handle);
}

async function describeTaskOutcome(
  process: TaskProcess,
  handle: Handle & { readonly name: string },
): Promise<ToolOutcome> {
  const { size, end } = process.status;
  const handles = [handle.shown(handle.name, size)];
  if (process.result !== undefined) return { ...resultOutcome(process.result), handles };
  const output = await handle.lastLines(MOST_SHOWN);
  if (end !== undefined) {
    const content = output || `(The task ${describeHandleState(handle)}.)`;
    return { content, isError: end.code !== 0, handles };
  }
  const how = `(The task goes on as the handle “${handle.name}”, ${describeHandleState(handle)}. You are notified when it ends; handle and await work with it.)`;
  return { content: [output, how].filter((one) => one !== '').join('\n'), isError: false, handles };
}

export function resultOutcome(result: McpContent): ToolOutcome {
  return {
    content: resultText(result) || '(The tool returned nothing.)',
    isError: result.isError,
    media: mediaIn(result.blocks),
  };
}

/** The call that waits for a task. */
interface WaitingCall {
  readonly isOver: boolean;
  ask(params: unknown): Promise<TaskAnswer>;
  progress(text: string): void;
}

/** `startedAt`: set for a task that was started before a restart. */
export function createTaskProcess(
  { tool, server, reference }: StartedTask,
  call?: WaitingCall,
  startedAt?: string,
): TaskProcess {
  return new TaskProcess({
    server: server.name,
    tool,
    reference,
    startedAt: startedAt ?? new Date(realClock.now()).toISOString(),
    pid: server.session?.pid,
    clock: realClock,
    whyUnknown: () =>
      server.isConnected ? undefined : `the MCP server “${server.name}” cannot be asked: ${server.absence}`,
    resume: async (follower, signal) => (await server.whenReady(signal))?.resumeTask(reference, follower),
    cancel: () => cancelTask(server, reference),
    askUser: async (params) => (call?.isOver === false ? call.ask(params) : undefined),
    openExternal: (url) => server.host.openExternal(url),
    progress: (text) => (call?.isOver === false ? call.progress(text) : undefined),
    report: (error) => server.noteFailure(error),
  });
}

async function cancelTask(server: McpServer, reference: string): Promise<void> {
  await server.cancels.cancel(reference, server.session).catch((error: unknown) => server.noteFailure(error));
}

/** `content` is for the model, the code for people. */
export function refuse(failure: FailureCode, content: string): ToolOutcome {
  return { content, isError: true, failure };
}

/** Longer media are only described. */
const MOST_BASE64 = 8_000_000;

const mediaSchema = z.object({
  type: z.enum(['image', 'audio']),
  data: z.string().max(MOST_BASE64),
  mimeType: z.enum(CARD_MEDIA_TYPES),
});
const embeddedSchema = z.object({
  type: z.literal('resource'),
  resource: z.object({ blob: z.string().max(MOST_BASE64), mimeType: z.enum(CARD_MEDIA_TYPES) }),
});

/** Images and sound in the result of an MCP tool, for the card of the call. Bounded in number, size and kind. */
export function mediaIn(blocks: readonly unknown[]): readonly ShownMedia[] {
  const media: ShownMedia[] = [];
  for (const block of blocks) {
    if (media.length >= MOST_CARD_MEDIA) break;
    const found = mediaOf(block);
    if (found !== undefined) media.push(found);
  }
  return media;
}

function mediaOf(block: unknown): ShownMedia | undefined {
  const plain = mediaSchema.safeParse(block);
  if (plain.success) return decoded(plain.data.mimeType, plain.data.data);
  const embedded = embeddedSchema.safeParse(block);
  return embedded.success ? decoded(embedded.data.resource.mimeType, embedded.data.resource.blob) : undefined;
}

function decoded(mediaType: ShownMedia['mediaType'], data: string): ShownMedia | undefined {
  const bytes = Buffer.from(data, 'base64');
  return bytes.length === 0 ? undefined : { mediaType, bytes };
}
