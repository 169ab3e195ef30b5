// Events of a server over one connection: lists them, polls, and reads streams, whose notifications the client library
// does not know.
import {
  type Client,
  isJSONRPCNotification,
  isJSONRPCRequest,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { describeError } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH } from '../../base/json/outsideJson.ts';
import {
  activeSchema,
  EVENT_ERRORS,
  eventListSchema,
  eventPageSchema,
  eventTypeSchema,
  heartbeatSchema,
  type McpEventType,
  type McpOccurrence,
  occurrenceSchema,
  ofStreamSchema,
  streamErrorSchema,
  SUBSCRIPTION_ID,
} from '../../protocol/outside/mcpEvents.ts';
import { describeSignIn, wantsSignIn } from './serverFetch.ts';
import { EventFailure, type EventFrame, type EventPage, type EventRequest, type McpEvents } from './sessionPort.ts';

type StreamOptions = NonNullable<Parameters<Transport['send']>[1]> & { onRequestStreamEnd?: () => void };

const NO_LIMIT = 2 ** 31 - 1;
/** Of an answer to a poll, besides the time for which the server may hold it. */
const ANSWERED_WITHIN = 15_000;
const MOST_LISTED = 500;
const MOST_PAGES = 10;
const STREAM = 'events/stream';
const PREFIX = 'notifications/events/';

interface OpenStream {
  /** Set once its request was sent. */
  id?: string;
  readonly frame: (frame: EventFrame) => void;
  /** Aborted with the failure, once the server or the connection has ended it. */
  readonly over: AbortController;
}

export interface EventSessionDeps {
  log(line: string): void;
  /** The server announced other events. */
  changed(): void;
}

export class EventSession implements McpEvents {
  readonly #client: Client;
  readonly #deps: EventSessionDeps;
  readonly #streams = new Map<string, OpenStream>();
  /** The stream whose request is being sent: the library sends it before `request` returns. */
  #sending: OpenStream | undefined;

  /** `client` must be connected. */
  constructor(client: Client, transport: Transport, deps: EventSessionDeps) {
    this.#client = client;
    this.#deps = deps;
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const stream = this.#sending;
      if (stream === undefined || !isJSONRPCRequest(message) || message.method !== STREAM)
        return send(message, options);
      stream.id = String(message.id);
      this.#streams.set(stream.id, stream);
      const lost = () => stream.over.abort(new EventFailure('lost', 'the stream of its events was lost'));
      // Also called right after the answer; the timer lets that be handled first.
      const more: StreamOptions = { ...options, onRequestStreamEnd: () => void setTimeout(lost, 0) };
      return send(message, more);
    };
    const onward = transport.onmessage;
    transport.onmessage = (message, extra) => {
      const isHandled = isJSONRPCNotification(message) && message.method.startsWith(PREFIX);
      if (isHandled) this.#notified(message.method.slice(PREFIX.length), message.params);
      else onward?.(message, extra);
    };
  }

  async list(): Promise<readonly McpEventType[]> {
    const found: McpEventType[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES && found.length < MOST_LISTED; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const listed = await this.#request('events/list', params, eventListSchema, ANSWERED_WITHIN);
      found.push(...listed.events.flatMap((one) => eventTypeSchema.safeParse(one).data ?? []));
      cursor = listed.nextCursor;
      if (cursor === undefined) break;
    }
    return found.slice(0, MOST_LISTED);
  }

  async poll(request: EventRequest, signal: AbortSignal): Promise<EventPage> {
    const within = ANSWERED_WITHIN + (request.timeoutMs ?? 0);
    const page = await this.#request('events/poll', { ...request }, eventPageSchema, within, signal);
    return { ...page, events: page.events.flatMap((one) => this.#occurrence(one) ?? []) };
  }

  async stream(request: EventRequest, frame: OpenStream['frame'], signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const stream: OpenStream = { frame, over };
    try {
      this.#sending = stream;
      const either = AbortSignal.any([signal, over.signal]);
      const sent = this.#request(STREAM, { ...request }, z.looseObject({}), NO_LIMIT, either);
      this.#sending = undefined;
      await sent;
    } catch (error) {
      const reason: unknown = over.signal.aborted ? over.signal.reason : error;
      throw reason;
    } finally {
      this.#sending = undefined;
      this.#streams.delete(stream.id ?? '');
    }
  }

  async #request<Result>(
    method: string,
    params: Record<string, unknown>,
    schema: z.ZodType<Result>,
    timeout: number,
    signal?: AbortSignal,
  ): Promise<Result> {
    let result: unknown;
    try {
      result = await this.#client.request({ method, params }, z.looseObject({}), {
        timeout,
        ...(signal && { signal }),
      });
    } catch (error) {
      throw failureOf(error);
    }
    const parsed = schema.safeParse(result);
    if (parsed.success) return parsed.data;
    throw new EventFailure('invalid', `its answer is not valid: ${parsed.error.issues[0]?.message ?? 'no object'}`);
  }

  #notified(name: string, params: unknown): void {
    if (name === 'list_changed') return this.#deps.changed();
    const of = ofStreamSchema.safeParse(params);
    const stream = of.success ? this.#streams.get(String(of.data._meta[SUBSCRIPTION_ID])) : undefined;
    if (stream === undefined) return;
    if (name === 'event') {
      const occurrence = this.#occurrence(params);
      if (occurrence !== undefined) stream.frame({ type: 'event', occurrence });
      return;
    }
    if (name === 'terminated' || name === 'error') {
      const { error } = streamErrorSchema.safeParse(params).data ?? { error: { code: 0, message: 'for no reason' } };
      if (name === 'error') this.#deps.log(`An error of the stream: ${error.message.slice(0, 500)}`);
      else stream.over.abort(new EventFailure('ended', error.message.slice(0, 500), error.code));
      return;
    }
    const schema = name === 'active' ? activeSchema : name === 'heartbeat' ? heartbeatSchema : undefined;
    const read = schema?.safeParse(params);
    if (read?.success === true)
      stream.frame({ type: 'position', truncated: false, isFirst: name === 'active', ...read.data });
    else if (read !== undefined) stream.over.abort(new EventFailure('invalid', read.error.issues[0]?.message ?? ''));
  }

  /** Undefined: it cannot be told apart from others, or is nested too deep to be shown. */
  #occurrence(value: unknown): McpOccurrence | undefined {
    const read = occurrenceSchema.safeParse(value);
    if (read.success && !isDeeperThan(read.data.data, MOST_DEPTH)) return read.data;
    this.#deps.log(`An event was ignored: ${read.error?.issues[0]?.message ?? 'it is nested too deep'}.`);
    return undefined;
  }
}

/** Over HTTP, the error of the protocol is only in the text of the failure. */
const CODE = /"code"\s{0,5}:\s{0,5}(-\d{1,6})/;
const TOO_MANY_REQUESTS = 429;

function failureOf(error: unknown): EventFailure {
  const message = describeError(error).slice(0, 500);
  if (wantsSignIn(error)) return new EventFailure('sign_in', describeSignIn(error));
  if (error instanceof ProtocolError) return new EventFailure('refused', message, error.code);
  if (error instanceof SdkHttpError) {
    const { status } = error;
    if (status === 401 || status === 403) return new EventFailure('sign_in', `it answered with HTTP ${status}`);
    if (status === TOO_MANY_REQUESTS) return new EventFailure('refused', 'too many requests', EVENT_ERRORS.exhausted);
    const [, code] = CODE.exec(error.message.slice(0, 5000)) ?? [];
    return code === undefined
      ? new EventFailure('lost', `it answered with HTTP ${status}`)
      : new EventFailure('refused', message, Number(code));
  }
  const isInvalid = error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
  return new EventFailure(isInvalid ? 'invalid' : 'lost', message);
}
