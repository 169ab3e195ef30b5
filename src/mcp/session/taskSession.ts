// Tasks of a server: calls that continue without a connection, followed by id (revisions 2025-11-25 and 2026-07-28).
import { type Client, ProtocolError, RELATED_TASK_META_KEY, type Transport } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  DispatchError,
  JsonRpcResponseError,
  type RawClientDispatch,
  type SerializedTaskReference,
  type TaskEnabledSession,
  type ToolExecution,
} from '@modelcontextprotocol/ext-tasks/client';
import * as z from 'zod';
import { ignore, pause } from '../../base/async.ts';
import { describeError } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { realClock } from '../../node/realClock.ts';
import {
  CLIENT_CAPABILITIES,
  type McpTask,
  type McpSessionDeps,
  type TaskAnswer,
  type TaskEnd,
  type TaskFollower,
} from './sessionPort.ts';
import { TaskWire } from './taskWire.ts';

type TaskExecution = Extract<ToolExecution<unknown, TaskFollower>, { kind: 'task' }>;
type TaskOutcome = Awaited<ReturnType<TaskExecution['result']>>;

const NO_LIMIT = 2 ** 31 - 1;
const CANCELLED = { action: 'cancel' } as const;
/** Milliseconds between checks whether the task still needs the answer to an open question. */
const QUESTION_POLL = 2000;

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
const requestSchema = z.object({ method: z.string(), params: z.record(z.string(), z.unknown()).optional() });
const relatedSchema = z.object({ _meta: z.object({ [RELATED_TASK_META_KEY]: z.object({ taskId: z.string() }) }) });

export interface TaskSessionDeps extends Pick<McpSessionDeps, 'identity' | 'client' | 'limits' | 'log'> {
  /** Called when a request about a task got no answer. */
  unanswered(error: unknown): void;
}

export class TaskSession {
  readonly #client: Client;
  readonly #deps: TaskSessionDeps;
  readonly #wire: TaskWire;
  readonly #session: TaskEnabledSession<TaskFollower | undefined>;
  readonly #followers = new Map<string, TaskFollower>();
  /** Tasks with a pending `tasks/result` request, through which their questions arrive. */
  readonly #fetching = new Set<string>();
  /** Whether the server may announce changes of tasks; false once it is known that it does not. */
  #announces: boolean;

  /** `client` must be connected to a server that supports tasks. */
  constructor(client: Client, transport: Transport, deps: TaskSessionDeps) {
    this.#client = client;
    this.#deps = deps;
    const { identity, log } = deps;
    const isModern = client.getProtocolEra() === 'modern';
    this.#announces = isModern;
    this.#wire = new TaskWire(transport, {
      progress: (task, text) => this.#followers.get(task)?.working(text),
      unclaimed: (task) =>
        void this.#session.cancelTask(task as never).catch((error: unknown) => log(describeError(error))),
    });
    this.#session = createTaskSessionFromClient<TaskFollower | undefined>(client, {
      ...(isModern && { rawDispatch: this.#dispatch, v2RequestFraming: this.#framing() }),
      endpointId: identity,
      // Not needed: calls are made with the client library.
      tools: { currentTool: () => undefined },
      onInputRequest: async (request, { applicationContext: follower, taskId = '', signal }) => {
        // This client declares only elicitation, so the library asks for nothing else.
        if (request.kind !== 'elicitation' || follower === undefined) return CANCELLED as never;
        return (await this.#ask(taskId, follower, request.params, signal)) as never;
      },
      onError: (error) => log(describeError(error)),
    });
  }

  /** The reference of the task that a call became; undefined: this is an ordinary result. */
  claim(result: object): string | undefined {
    const taskId = this.#wire.claim(result);
    if (taskId === undefined) return undefined;
    const generation = this.#client.getProtocolEra() === 'modern' ? 'v2' : 'v1';
    return JSON.stringify({ endpointId: this.#deps.identity, generation, taskId, originalOperation: 'tools/call' });
  }

  async resume(reference: string, follower: TaskFollower): Promise<McpTask> {
    const parsed = readReference(reference);
    const { taskId } = parsed;
    const over = new AbortController();
    this.#followers.set(taskId, follower);
    const end = () => {
      over.abort();
      this.#followers.delete(taskId);
      this.#wire.forget(taskId);
    };
    const isEarlier = this.#client.getProtocolEra() !== 'modern';
    try {
      void this.#subscribe(taskId, over.signal).catch((error: unknown) => this.#deps.log(describeError(error)));
      const execution = await this.#session.resumeTask<unknown>(parsed, {
        applicationContext: follower,
        requestTimeoutMs: this.#deps.limits.request,
        // Accepts any result, as for calls without a task.
        resultCodec: { parse: (value) => ({ success: true, value }) },
      });
      if (execution.kind !== 'task') throw new Error('it is not a task');
      return this.#taskOf(execution as unknown as TaskExecution, {
        end,
        working: (text) => follower.working(text),
        asks: () => (isEarlier ? this.#fetchQuestions(taskId, over.signal) : undefined),
      });
    } catch (error) {
      end();
      this.#noteUnanswered(error);
      throw causeOf(error);
    }
  }

  /** Rejects if the server did not answer. An error as the answer counts as answered: it may not know the task. */
  async cancel(reference: string, { isAwaited }: { readonly isAwaited: boolean }): Promise<void> {
    const { taskId } = readReference(reference);
    const { probe, request } = this.#deps.limits;
    try {
      await this.#session.cancelTask(taskId, AbortSignal.timeout(isAwaited ? probe : request));
    } catch (error) {
      if (!(error instanceof JsonRpcResponseError)) throw causeOf(error);
      this.#deps.log(`A task was not cancelled: ${error.message.slice(0, 500)}`);
    }
  }

  /** Answers a question that a task of the legacy era sends as a request; undefined: no task sent it. */
  answer(params: unknown, signal: AbortSignal): Promise<ElicitAnswer> | undefined {
    const related = relatedSchema.safeParse(params);
    const taskId = related.success ? related.data._meta[RELATED_TASK_META_KEY].taskId : undefined;
    const follower = taskId === undefined ? undefined : this.#followers.get(taskId);
    return follower?.ask(params, signal).then((answer) => wireAnswer(answer, params));
  }

  #taskOf(execution: TaskExecution, { end, working, asks }: FollowedTask): McpTask {
    return {
      settle: async (signal) => {
        try {
          const { outcome } = await execution.settle({
            signal,
            onEvent: (event) => {
              if (event.type !== 'task') return;
              if (event.task.status === 'working') working(event.task.statusMessage);
              if (event.task.status === 'input_required') asks();
            },
          });
          if (outcome.status !== 'failed' || isReported(outcome)) return endOf(outcome);
          this.#noteUnanswered(outcome.error.cause);
          throw causeOf(outcome.error.cause ?? outcome.error);
        } finally {
          end();
        }
      },
      detach: async () => {
        end();
        await execution.detach();
      },
    };
  }

  /** Resolves to the answer for the server, and to `cancel` if the task no longer needs one. */
  async #ask(
    taskId: string,
    follower: TaskFollower,
    params: unknown,
    signal: AbortSignal | undefined,
  ): Promise<ElicitAnswer> {
    const over = new AbortController();
    const asking = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const ended = this.#untilNotAsking(taskId, asking).then((): TaskAnswer => CANCELLED);
    try {
      return wireAnswer(await Promise.race([follower.ask(params, asking), ended]), params);
    } finally {
      over.abort();
    }
  }

  /** In the legacy era a server sends the questions of a task only while its result is requested. */
  #fetchQuestions(taskId: string, signal: AbortSignal): void {
    if (this.#fetching.has(taskId)) return;
    this.#fetching.add(taskId);
    const options = { signal, timeout: NO_LIMIT };
    this.#client
      .request({ method: 'tasks/result', params: { taskId } }, z.looseObject({}), options)
      .catch((error: unknown) => !signal.aborted && this.#deps.log(describeError(error)))
      .finally(() => this.#fetching.delete(taskId));
  }

  /** Resolves once the task no longer waits: another client may answer it, or it may end without the answer. */
  async #untilNotAsking(taskId: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(realClock, QUESTION_POLL, signal);
      // If the request fails, the next round asks again.
      const view = await this.#session
        .task(taskId as never)
        .snapshot(signal)
        .catch(ignore);
      if (view !== undefined && view.status !== 'input_required') return;
    }
  }

  /** Asks the server to announce changes of the task. The task is polled in any case; announcements come sooner. */
  async #subscribe(taskId: string, signal: AbortSignal): Promise<void> {
    if (!this.#announces) return;
    try {
      const filter = { taskIds: [taskId] } as object;
      const subscription = await this.#client.listen(filter, { timeout: this.#deps.limits.probe, signal });
      if (this.#wire.isAnnounced(taskId)) return;
      this.#announces = false;
      await subscription.close();
    } catch (error) {
      if (!signal.aborted) this.#announces = false;
      if (!signal.aborted && !(error instanceof ProtocolError)) throw error;
    }
  }

  readonly #dispatch: RawClientDispatch = async (request, options) => {
    const { method, params = {} } = requestSchema.parse(request);
    try {
      const result = await this.#client.request({ method, params }, z.looseObject({}), {
        timeout: this.#deps.limits.request,
        ...(options?.signal !== undefined && { signal: options.signal }),
      });
      // Added again because the client library has checked and removed it.
      return { kind: 'result', result: { ...result, resultType: 'complete' } as never };
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw new DispatchError(describeError(error), false, { cause: error });
      return { kind: 'error', error: { code: error.code, message: error.message } };
    }
  };

  #framing() {
    const protocolVersion = this.#client.getNegotiatedProtocolVersion() ?? '';
    return { protocolVersion, clientInfo: { ...this.#deps.client }, clientCapabilities: CLIENT_CAPABILITIES };
  }

  #noteUnanswered(error: unknown): void {
    if (error instanceof DispatchError) this.#deps.unanswered(error.cause ?? error);
  }
}

interface FollowedTask {
  end(): void;
  working(text: string | undefined): void;
  /** Called when the task waits for an answer. */
  asks(): void;
}

interface ElicitAnswer {
  readonly [key: string]: unknown;
  readonly action: TaskAnswer['action'];
}

function readReference(reference: string): SerializedTaskReference {
  return referenceSchema.parse(JSON.parse(reference)) as unknown as SerializedTaskReference;
}

/** The actual error, which the library wraps; it may say that the user has to sign in. */
function causeOf(error: unknown): unknown {
  return error instanceof DispatchError ? (error.cause ?? error) : error;
}

/** Whether the server itself reported the failure: a lost connection or a missing answer does not end a task. */
function isReported({ task, error }: Extract<TaskOutcome, { status: 'failed' }>): boolean {
  return task?.status === 'failed' || (task !== undefined && error.cause instanceof JsonRpcResponseError);
}

function endOf(outcome: TaskOutcome): TaskEnd {
  switch (outcome.status) {
    case 'completed': {
      const parsed = resultSchema.safeParse(outcome.result);
      if (!parsed.success) return { type: 'failed', message: 'its server sent no valid result' };
      const { content, structuredContent, isError } = parsed.data;
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

function wireAnswer({ action, content, text }: TaskAnswer, params: unknown): ElicitAnswer {
  const form = formSchema.safeParse(params);
  const [field] = form.success ? Object.keys(form.data.requestedSchema.properties) : [];
  if (text === undefined || field === undefined) return { action, ...defined({ content }) };
  return { action, content: { [field]: text } };
}
