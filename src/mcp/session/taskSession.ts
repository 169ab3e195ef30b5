// Tasks of a server: calls that go on without a connection, found again by their id (revisions 2025-11-25 and 2026-07-28).
import { type Client, type Tool } from '@modelcontextprotocol/client';
import {
  type ClientSessionPortOptions,
  createTaskSessionFromClient,
  DispatchError,
  type SerializedTaskReference,
  type TaskEnabledSession,
  type ToolExecution,
  toolDeclarationFromMcpTool,
} from '@modelcontextprotocol/ext-tasks/client';
import * as z from 'zod';
import { describeError } from '../../base/errors.ts';
import { type McpContent, type McpTask, type TaskAnswer, type TaskEnd } from './sessionPort.ts';

type TaskExecution = Extract<ToolExecution<unknown, AskingTask>, { kind: 'task' }>;

/** Who answers the questions of a task. */
interface AskingTask {
  ask(params: unknown): Promise<TaskAnswer>;
}

const resultSchema = z.object({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
const referenceSchema = z.object({
  endpointId: z.string(),
  generation: z.enum(['v1', 'v2']),
  taskId: z.string(),
  originalOperation: z.literal('tools/call'),
});

export class TaskSession {
  readonly #session: TaskEnabledSession<AskingTask | undefined>;

  /** `endpoint` identifies the server over restarts of the editor. */
  constructor(client: Client, endpoint: string, wire: ClientSessionPortOptions, report: (text: string) => void) {
    this.#session = createTaskSessionFromClient<AskingTask | undefined>(client, {
      ...wire,
      endpointId: endpoint,
      onInputRequest: async (request, { applicationContext: asking }) => {
        const cancelled = { action: 'cancel' as const };
        const answer = request.kind === 'elicitation' ? await asking?.ask(request.params) : undefined;
        // The library asks only for what this client declares: elicitation.
        return (answer === undefined ? cancelled : wireAnswer(answer, request.params)) as never;
      },
      onError: (error) => report(describeError(error)),
    });
  }

  /** A server may answer at once although the tool could be a task. */
  async start(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    ask: AskingTask['ask'],
    signal: AbortSignal,
  ): Promise<McpTask | McpContent> {
    const asking = { ask };
    const execution = await this.#session
      .callTool<unknown>(tool.name, args as never, {
        declaration: toolDeclarationFromMcpTool(tool),
        applicationContext: asking,
        signal,
        task: { preference: 'prefer' },
      })
      .catch(throwCause);
    if (execution.kind === 'task') return taskOf(execution as unknown as TaskExecution);
    const end = endOf(await execution.result());
    if (end.type === 'completed') return end.content;
    throw new Error(end.type === 'failed' ? end.message : 'it was cancelled');
  }

  async resume(reference: string, ask: AskingTask['ask']): Promise<McpTask> {
    const parsed = referenceSchema.parse(JSON.parse(reference)) as unknown as SerializedTaskReference;
    const execution = await this.#session
      .resumeTask<unknown>(parsed, { applicationContext: { ask } })
      .catch(throwCause);
    if (execution.kind !== 'task') throw new Error('it is no task');
    return taskOf(execution as unknown as TaskExecution);
  }
}

/** The library hides what went wrong, such as that the user has to sign in. */
function throwCause(error: unknown): never {
  throw error instanceof DispatchError ? (error.cause ?? error) : error;
}

function taskOf(execution: TaskExecution): McpTask {
  return {
    reference: JSON.stringify(execution.serializeReference()),
    settle: async (onStatus, signal) => {
      const { outcome } = await execution.settle({
        signal,
        onEvent: (event) => {
          if (event.type === 'task') onStatus(event.task.status, event.task.statusMessage);
        },
      });
      return endOf(outcome);
    },
    cancel: () => execution.cancel(),
    detach: () => execution.detach(),
  };
}

function endOf(outcome: Awaited<ReturnType<TaskExecution['result']>>): TaskEnd {
  switch (outcome.status) {
    case 'completed': {
      const { content, structuredContent, isError } = resultSchema.parse(outcome.result);
      const structured = structuredContent === undefined ? {} : { structured: structuredContent };
      return { type: 'completed', content: { blocks: content, ...structured, isError: isError === true } };
    }
    case 'failed':
      return { type: 'failed', message: outcome.error.message };
    case 'cancelled':
      return { type: 'cancelled' };
  }
}

const formSchema = z.object({ requestedSchema: z.object({ properties: z.record(z.string(), z.unknown()) }) });

function wireAnswer({ action, content, text }: TaskAnswer, params: unknown): object {
  const form = formSchema.safeParse(params);
  const [field] = form.success ? Object.keys(form.data.requestedSchema.properties) : [];
  if (text === undefined || field === undefined) return { action, ...(content !== undefined && { content }) };
  return { action, content: { [field]: text } };
}
