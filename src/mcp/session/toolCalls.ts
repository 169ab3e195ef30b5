// Calls a server's tools over the client library: time limits, progress, questions, and the meaning of failures.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { defined } from '../../base/json/defined.ts';
import { elicit } from '../elicitation.ts';
import { CallTimer } from './callTimer.ts';
import { HttpTransport } from './httpTransport.ts';
import { type CallEnd, type CallHooks, type McpSessionDeps } from './sessionPort.ts';
import { describeSignIn, wantsSignIn } from './serverFetch.ts';
import { type TaskSession } from './taskSession.ts';
import { describeProgress } from './wireTypes.ts';

const NO_LIMIT = 2 ** 31 - 1;
/** Questions that one call may ask; further ones are declined. */
const MOST_QUESTIONS = 20;

interface RunningCall {
  readonly hooks: CallHooks;
  readonly timer: CallTimer;
  questions: number;
  /** Aborted when the stream of its answer has ended; that matters only if no answer came. */
  readonly streamEnd: AbortController;
}

/** What calls need from their connection. */
export interface CallLink {
  readonly client: Client;
  readonly transport: Transport;
  readonly deps: McpSessionDeps;
  /** Undefined: the server does not support tasks. */
  tasks(): TaskSession | undefined;
  /** Whether to request a task: in the legacy era the client decides that. */
  asksForTask(tool: string): boolean;
  /** Repeats a request that was refused for lack of rights, once the user has signed in. */
  signedIn<T>(
    send: () => Promise<T>,
    waiting: (run: () => Promise<URLSearchParams | undefined>) => Promise<URLSearchParams | undefined>,
  ): Promise<T>;
  isAlive(): Promise<boolean>;
  isOver(): boolean;
  lose(reason: string): void;
  describeEnd(error?: unknown): string;
}

export class ToolCalls {
  readonly #link: CallLink;
  /** Calls without an answer yet, oldest first. A question of the server belongs to one of them. */
  readonly #running = new Set<RunningCall>();
  /** The call of the current context: in the modern era a question is part of the answer to its call. */
  readonly #asking = new AsyncLocalStorage<RunningCall>();

  constructor(link: CallLink) {
    this.#link = link;
    const { client, transport, deps } = link;
    if (transport instanceof HttpTransport) {
      // Also called right after an answer; the timer lets that be handled first.
      transport.streamEnd = () => {
        const call = this.#asking.getStore();
        return call && (() => void setTimeout(() => call.streamEnd.abort(), 0));
      };
    }
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const ofTask = link.tasks()?.answer(params, mcpReq.signal);
      if (ofTask !== undefined) return ofTask;
      const call = this.#asking.getStore() ?? [...this.#running].at(-1);
      // A server may ask only while a call runs.
      if (call === undefined) return { action: 'cancel' };
      call.questions += 1;
      if (call.questions > MOST_QUESTIONS) return { action: 'decline' };
      return call.timer.paused(() => elicit(deps.server, params, call.hooks, (url) => deps.openExternal(url)));
    });
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, hooks: CallHooks): Promise<CallEnd> {
    const timer = new CallTimer(this.#link.deps.limits.request);
    const streamEnd = new AbortController();
    const running: RunningCall = { hooks, timer, streamEnd, questions: 0 };
    this.#running.add(running);
    try {
      return await this.#link.signedIn(
        () => this.#asking.run(running, () => this.#send(tool, args, running)),
        (run) => timer.paused(run),
      );
    } catch (error) {
      if (hooks.signal.aborted) return { type: 'cancelled' };
      if (timer.signal.aborted) return await this.#afterTimeout();
      if (streamEnd.signal.aborted) return await this.#afterLostAnswer('the connection ended before its answer');
      return await this.#afterError(error);
    } finally {
      timer.dispose();
      this.#running.delete(running);
    }
  }

  async #send(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { hooks, timer, streamEnd }: RunningCall,
  ): Promise<CallEnd> {
    const result = await this.#link.client.callTool(
      { name, arguments: { ...args }, ...(this.#link.asksForTask(name) && { task: {} }) },
      {
        signal: AbortSignal.any([hooks.signal, timer.signal, streamEnd.signal]),
        timeout: NO_LIMIT,
        onprogress: (progress) => {
          timer.restart();
          hooks.progress(`${describeProgress(progress)}\n`);
        },
      },
    );
    const reference = this.#link.tasks()?.claim(result);
    if (reference !== undefined) return { type: 'task', reference };
    const { content, structuredContent, isError } = result;
    return {
      type: 'result',
      content: {
        blocks: content,
        ...defined({ structured: structuredContent }),
        isError: isError === true,
      },
    };
  }

  async #afterTimeout(): Promise<CallEnd> {
    const { request, probe } = this.#link.deps.limits;
    if (await this.#link.isAlive()) return { type: 'slow', seconds: request / 1000 };
    const message = `it did not answer within ${request / 1000} s, nor a probe within ${probe / 1000} s`;
    this.#link.lose(message);
    return { type: 'lost', message };
  }

  async #afterLostAnswer(message: string): Promise<CallEnd> {
    if (!(await this.#link.isAlive())) this.#link.lose(message);
    return { type: 'lost', message };
  }

  async #afterError(error: unknown): Promise<CallEnd> {
    if (error instanceof ProtocolError) return { type: 'refused', message: error.message.slice(0, 2000) };
    if (wantsSignIn(error)) return { type: 'sign_in', message: describeSignIn(error) };
    if (error instanceof SdkHttpError) return this.#afterHttpError(error);
    if (
      error instanceof SdkError &&
      error.code !== SdkErrorCode.ConnectionClosed &&
      error.code !== SdkErrorCode.SendFailed
    ) {
      return { type: 'refused', message: error.message.slice(0, 2000) };
    }
    const message = this.#link.describeEnd(error);
    return this.#link.isOver() ? { type: 'lost', message } : this.#afterLostAnswer(message);
  }

  async #afterHttpError({ status }: SdkHttpError): Promise<CallEnd> {
    if (status === 401 || status === 403) return { type: 'sign_in', message: `it answered with HTTP ${status}` };
    // The server has dropped the session and its state, so the connection has to be made again.
    if (status === 404 && this.#link.client.getProtocolEra() !== 'modern')
      this.#link.lose('it does not know this session any more');
    if (status < 500) return { type: 'refused', message: `it answered with HTTP ${status}` };
    return this.#afterLostAnswer(`it answered with HTTP ${status}`);
  }
}
