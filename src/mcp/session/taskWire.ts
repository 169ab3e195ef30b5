// Reads task messages before the client library, which refuses a result that is a task, drops progress that follows the
// answer to a call, and does not know subscriptions to tasks.
import { isJSONRPCNotification, isJSONRPCResultResponse, type Transport } from '@modelcontextprotocol/client';
import { readAcceptedTaskIdsV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import * as z from 'zod';
import { describeProgress } from './wireTypes.ts';

/** The `_meta` key for the task's id in the result that is passed on to the client library. */
const TASK_KEY = 'earshot/task';

const taskId = z.string().min(1).max(500);
const createdSchema = z.union([
  z.object({ resultType: z.literal('task'), taskId }).transform((created) => created.taskId),
  z.object({ task: z.object({ taskId }), content: z.undefined().optional() }).transform(({ task }) => task.taskId),
]);
const progressSchema = z.object({
  progressToken: z.union([z.string(), z.number()]),
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
});
const claimedSchema = z.object({ _meta: z.object({ [TASK_KEY]: taskId }) });

export interface TaskWireDeps {
  progress(task: string, text: string): void;
  /** Called when a call became a task although the caller stopped waiting for its answer. */
  unclaimed(task: string): void;
}

export class TaskWire {
  readonly #deps: TaskWireDeps;
  /** Tasks by the progress token of the call that became the task, which is the id of its request. */
  readonly #calls = new Map<unknown, string>();
  readonly #unclaimed = new Set<string>();
  readonly #announced = new Set<string>();

  /** The client library must have connected the transport already. */
  constructor(transport: Transport, deps: TaskWireDeps) {
    this.#deps = deps;
    const onward = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if (isJSONRPCResultResponse(message)) {
        const result = this.#replaced(message.id, message.result);
        onward?.(result === undefined ? message : { ...message, result }, extra);
        return;
      }
      const isHandled = isJSONRPCNotification(message) && this.#notify(message.method, message.params);
      if (!isHandled) onward?.(message, extra);
    };
  }

  /** The task that a call became; undefined: this is an ordinary result. */
  claim(result: object): string | undefined {
    const parsed = claimedSchema.safeParse(result);
    if (!parsed.success || !this.#unclaimed.delete(parsed.data._meta[TASK_KEY])) return undefined;
    return parsed.data._meta[TASK_KEY];
  }

  /** Whether the server has confirmed that it announces changes of this task. */
  isAnnounced(task: string): boolean {
    return this.#announced.has(task);
  }

  forget(task: string): void {
    this.#announced.delete(task);
    for (const [token, called] of this.#calls) if (called === task) this.#calls.delete(token);
  }

  #replaced(request: unknown, result: unknown): { readonly [key: string]: unknown } | undefined {
    const created = createdSchema.safeParse(result);
    if (!created.success) return undefined;
    const task = created.data;
    this.#calls.set(request, task);
    this.#unclaimed.add(task);
    // A caller that still waits claims its result before the next timer fires.
    setTimeout(() => {
      if (this.#unclaimed.delete(task)) this.#deps.unclaimed(task);
    }, 0);
    // Marked as an error, so that the client library does not require structured content.
    return { resultType: 'complete', content: [], isError: true, _meta: { [TASK_KEY]: task } };
  }

  #notify(method: string, params: unknown): boolean {
    if (method === 'notifications/subscriptions/acknowledged') {
      for (const task of readAcceptedTaskIdsV2(params)) this.#announced.add(task);
      return false;
    }
    const parsed = method === 'notifications/progress' ? progressSchema.safeParse(params) : undefined;
    const task = parsed?.success === true ? this.#calls.get(parsed.data.progressToken) : undefined;
    if (parsed?.data === undefined || task === undefined) return false;
    this.#deps.progress(task, describeProgress(parsed.data));
    return true;
  }
}
