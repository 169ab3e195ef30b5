// A JSON-RPC 2.0 peer that receives and sends frames. The transport and the methods are up to its caller.
import { isObject } from './outsideJson.ts';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const SERVER_ERROR = -32000;

/** An expected failure of a request. `message` is for the sender. */
export class JsonRpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'JsonRpcError';
    this.code = code;
  }
}

/** The answers of a batch, which are sent together. */
export interface BatchAnswers {
  /** Their length so far, in characters. */
  readonly length: number;
}

export interface JsonRpcPeerOptions {
  send(frame: string): void;
  /**
   * Called in the order in which requests arrive, and before the next one is handled, so a change that it makes before
   * its first `await` is visible to the next request. Throws or rejects with `JsonRpcError` for an expected failure.
   * `batch`: set for an entry of a batch.
   */
  handle(method: string, params: unknown, batch?: BatchAnswers): unknown;
  /** Called with an unexpected error of a handler. The peer answers with a server error. */
  report(error: unknown): void;
  /** Most entries in one batch. Default: 100. */
  readonly maxBatch?: number;
  /** Most levels of nesting in one frame. Default: 100. */
  readonly maxDepth?: number;
}

type Id = string | number | null;

interface Outstanding {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface Reply {
  readonly jsonrpc: '2.0';
  readonly id: Id;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export class JsonRpcPeer {
  readonly #options: JsonRpcPeerOptions;
  readonly #outstanding = new Map<number, Outstanding>();
  #nextId = 1;
  #closed: Error | undefined;
  #handling = 0;

  constructor(options: JsonRpcPeerOptions) {
    this.#options = options;
  }

  /** Requests of the other side that are not answered yet. */
  get handling(): number {
    return this.#handling;
  }

  /** One frame: a request, a notification, a response, or a batch of them. Never throws. */
  receive(frame: string): void {
    if (this.#closed !== undefined) return;
    const { maxBatch = 100, maxDepth = 100 } = this.#options;
    if (isNestedDeeper(frame, maxDepth)) {
      return this.#send(failure(null, PARSE_ERROR, `the frame is nested deeper than ${maxDepth} levels`));
    }
    const parsed = parseJson(frame);
    if (parsed === undefined) return this.#send(failure(null, PARSE_ERROR, 'the frame is not valid JSON'));
    const { value } = parsed;
    if (!Array.isArray(value)) return this.#single(value);
    if (value.length === 0) return this.#send(failure(null, INVALID_REQUEST, 'the batch is empty'));
    if (value.length > maxBatch) {
      return this.#send(failure(null, INVALID_REQUEST, `the batch has more than ${maxBatch} entries`));
    }
    this.#batch(value);
  }

  /** Resolves with the result; rejects with `JsonRpcError` if the other side refuses, or when the peer is closed. */
  request(method: string, params?: object): Promise<unknown> {
    return this.ask(method, params).answer;
  }

  /** As `request`, with the id by which the request can be cancelled in protocols that support this. */
  ask(method: string, params?: object): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = this.#nextId++;
    if (this.#closed !== undefined) return { id, answer: Promise.reject(this.#closed) };
    const answer = new Promise<unknown>((resolve, reject) => this.#outstanding.set(id, { resolve, reject }));
    this.#options.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }));
    return { id, answer };
  }

  notify(method: string, params?: object): void {
    if (this.#closed !== undefined) return;
    this.#options.send(JSON.stringify({ jsonrpc: '2.0', method, ...(params && { params }) }));
  }

  /** Rejects every request that has no answer yet. Replies to the other side are dropped from here on. */
  close(reason: string): void {
    if (this.#closed !== undefined) return;
    const error = new Error(reason);
    this.#closed = error;
    for (const { reject } of this.#outstanding.values()) reject(error);
    this.#outstanding.clear();
  }

  #single(value: unknown): void {
    const reply = this.#entry(value);
    if (reply !== undefined) this.#whenDone(reply, (done) => this.#send(done));
  }

  #batch(values: readonly unknown[]): void {
    const answers = { length: 0 };
    const replies = values.map((value) => this.#entry(value, answers)).filter((reply) => reply !== undefined);
    if (replies.length === 0) return;
    // Each is printed at once: its length counts, and its objects are no longer needed.
    const printed = replies.map(async (reply) => {
      const text = JSON.stringify(await reply);
      answers.length += text.length;
      return text;
    });
    this.#whenDone(Promise.all(printed), (texts) => this.#sendText(`[${texts.join()}]`));
  }

  #whenDone<T>(pending: Promise<T>, run: (value: T) => void): void {
    pending.then(run).catch((error: unknown) => this.#options.report(error));
  }

  /** Undefined if the entry gets no reply. The returned promise never rejects. */
  #entry(value: unknown, batch?: BatchAnswers): Promise<Reply> | undefined {
    if (isResponse(value)) {
      this.#settle(value);
      return undefined;
    }
    if (!isRequest(value)) return Promise.resolve(refuseEntry(value));
    const { id, method, params } = value;
    const handled = this.#handle(method, params, batch);
    if (id === undefined) {
      handled.catch((error: unknown) => this.#reportUnexpected(error));
      return undefined;
    }
    this.#handling += 1;
    return handled
      .then(
        (result): Reply => ({ jsonrpc: '2.0', id, result: result ?? null }),
        (error: unknown) => this.#refusal(id, error),
      )
      .finally(() => {
        this.#handling -= 1;
      });
  }

  /** The handler's synchronous part runs now; what it throws becomes a rejection. */
  #handle(method: string, params: unknown, batch: BatchAnswers | undefined): Promise<unknown> {
    try {
      return Promise.resolve(this.#options.handle(method, params, batch));
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #refusal(id: Id, error: unknown): Reply {
    if (error instanceof JsonRpcError) return failure(id, error.code, error.message);
    this.#options.report(error);
    return failure(id, SERVER_ERROR, 'the request failed unexpectedly; the log has details');
  }

  #reportUnexpected(error: unknown): void {
    if (!(error instanceof JsonRpcError)) this.#options.report(error);
  }

  #settle({ id, result, error }: Response): void {
    const waiting = typeof id === 'number' ? this.#outstanding.get(id) : undefined;
    if (waiting === undefined || typeof id !== 'number') return;
    this.#outstanding.delete(id);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new JsonRpcError(error.code, error.message));
  }

  #send(reply: Reply): void {
    this.#sendText(JSON.stringify(reply));
  }

  #sendText(text: string): void {
    if (this.#closed === undefined) this.#options.send(text);
  }
}

interface Request {
  readonly id?: Id;
  readonly method: string;
  readonly params?: unknown;
}

interface Response {
  readonly id: Id;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

function failure(id: Id, code: number, message: string): Reply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** Has the id of the entry if that is valid: the sender waits for an answer with its id. */
function refuseEntry(value: unknown): Reply {
  const { id, jsonrpc, method }: Readonly<Record<string, unknown>> = isObject(value) ? value : {};
  const wrong =
    !isObject(value) || (method === undefined && id === undefined)
      ? 'the entry is not a JSON-RPC 2.0 request'
      : jsonrpc !== '2.0'
        ? 'jsonrpc: must be "2.0"'
        : typeof method !== 'string'
          ? 'method: must be a string'
          : 'id' in value && !isId(id)
            ? 'id: must be a string, a number or null'
            : 'params: must be an object or an array';
  return failure(isId(id) ? id : null, INVALID_REQUEST, wrong);
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function isId(value: unknown): value is Id {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function isRequest(value: unknown): value is Request {
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || typeof value['method'] !== 'string') return false;
  if ('id' in value && !isId(value['id'])) return false;
  return !('params' in value) || (typeof value['params'] === 'object' && value['params'] !== null);
}

function isResponse(value: unknown): value is Response {
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || 'method' in value || !isId(value['id'])) return false;
  const { error } = value;
  if (error === undefined) return 'result' in value;
  return isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Checked before parsing, since code that recurses over the parsed value could overflow the stack. */
function isNestedDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (inString) {
      if (unit === BACKSLASH) index += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    // { and [
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1;
  }
  return false;
}
