// Runs a tool as a task of its server: the call waits for a while, then the task goes on as a handle.
import { describeError } from '../../base/errors.ts';
import { type ConversationHandles } from '../../core/ports/handles.ts';
import { type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { describeHandleState } from '../../core/tools/handleTexts.ts';
import { realClock } from '../../node/realClock.ts';
import { elicit } from '../elicitation.ts';
import { type McpServer } from '../server.ts';
import { type McpContent, type McpTask, type McpTool, type TaskAnswer } from '../session/sessionPort.ts';
import { resultText } from './contentText.ts';
import { mediaIn } from './resultMedia.ts';
import { TaskProcess } from './taskProcess.ts';

/** How long the call itself waits for the end of its task. */
const FOREGROUND_MILLISECONDS = 20_000;
const MOST_SHOWN = 28_000;

interface CalledTool {
  readonly name: string;
  readonly server: McpServer;
  readonly tool: McpTool;
}

export async function runAsTask(
  { name, server, tool }: CalledTool,
  args: Readonly<Record<string, unknown>>,
  context: ToolContext,
  handles: ConversationHandles,
): Promise<ToolOutcome> {
  const { signal, ask, call } = context;
  /** While the call waits, the user is asked. */
  let waits = true;
  const askUser = async (params: unknown): Promise<TaskAnswer | undefined> =>
    waits ? elicit(server.name, params, { ask }, async () => false) : undefined;
  const pending: { process?: TaskProcess } = {};
  const askInTask = async (params: unknown): Promise<TaskAnswer> =>
    (await (pending.process?.ask(params) ?? askUser(params))) ?? { action: 'cancel' };
  let started: McpTask | McpContent | undefined;
  try {
    started = await server.session?.startTask(tool.name, args, askInTask, signal);
  } catch (error) {
    if (signal.aborted) return refuse('Cancelled by the user.');
    return refuse(`${name} failed: ${describeError(error)}. It may have run.`);
  }
  if (started === undefined) return refuse(`${name} was not run: the MCP server “${server.name}” is not connected.`);
  if (!('reference' in started)) {
    const content = resultText(started) || '(The tool returned nothing.)';
    return { content, isError: started.isError, media: mediaIn(started.blocks) };
  }
  const process = createTaskProcess(server, { tool: name, reference: started.reference, askUser });
  pending.process = process;
  const handle = await handles.adopt(call, process);
  process.follow(started);
  const enough = AbortSignal.any([signal, AbortSignal.timeout(FOREGROUND_MILLISECONDS)]);
  await handle.until((one) => one.hasEnded || one.isMoved, enough);
  waits = false;
  if (signal.aborted && !handle.hasEnded) {
    await handle.stop('cancelled by the user');
    return { ...refuse('Cancelled by the user.'), handles: [handle.shown(handle.name)] };
  }
  const output = await handle.lastLines(MOST_SHOWN);
  const { size, end } = process.status;
  if (end === undefined) {
    const how = `(The task goes on as the handle “${handle.name}”, ${describeHandleState(handle)}. You are notified when it ends; handle and await work with it.)`;
    return {
      content: [output, how].filter((one) => one !== '').join('\n'),
      isError: false,
      handles: [handle.shown(handle.name, size)],
    };
  }
  const isError = end.code !== 0;
  return {
    content: output || `(The task ${describeHandleState(handle)}.)`,
    isError,
    handles: [handle.shown(handle.name, size)],
  };
}

export function createTaskProcess(
  server: McpServer,
  task: {
    readonly tool: string;
    readonly reference: string;
    readonly startedAt?: string;
    askUser?(params: unknown): Promise<TaskAnswer | undefined>;
  },
): TaskProcess {
  return new TaskProcess({
    server: server.name,
    tool: task.tool,
    reference: task.reference,
    startedAt: task.startedAt ?? new Date(realClock.now()).toISOString(),
    clock: realClock,
    whyUnknown: () =>
      server.isConnected ? undefined : `the MCP server “${server.name}” cannot be asked: ${server.absence}`,
    resume: async (ask, signal) => (await server.whenReady(signal))?.resumeTask(task.reference, ask),
    askUser: task.askUser ?? (async () => undefined),
    report: (error) => server.noteFailure(error),
  });
}

function refuse(content: string): ToolOutcome {
  return { content, isError: true };
}
