// Asks the API of one forge, one request at a time: answers are kept with their ETags, and its limits are obeyed.
import { parseJson } from '../../base/json/outsideJson.ts';
import { Sequence } from '../../base/async.ts';
import { describeError } from '../../base/errors.ts';
import { type Clock } from '../../core/ports/ports.ts';

export interface ForgeRequest {
  readonly host: string;
  /** Without a slash at the beginning. */
  readonly path: string;
  readonly etag?: string | undefined;
}

export interface ForgeAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends one request: by a program of the user, or with the token of an account. Throws `ForgeTrouble`. */
export type ForgeTransport = (request: ForgeRequest, signal: AbortSignal) => Promise<ForgeAnswer>;

/** Why a forge gives no answer, in a sentence for the model and the user. */
export class ForgeTrouble extends Error {
  /** `setUp`: the user has to do something; `missing`: there is no such thing; `later`: it may work later. */
  readonly type: 'setUp' | 'missing' | 'later';

  constructor(type: ForgeTrouble['type'], message: string) {
    super(message);
    this.name = 'ForgeTrouble';
    this.type = type;
  }
}

/** Reads an answer; drops what is not needed. */
export interface Schema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

interface CachedAnswer {
  readonly etag: string;
  readonly value: unknown;
}

const MOST_KEPT = 200;
/** After an error of the server; doubled each time. */
const FIRST_PAUSE = 30_000;
const LONGEST_PAUSE = 15 * 60_000;
/** GitHub’s advice where a limit names no time. */
const LIMIT_PAUSE = 60_000;
const LONGEST_LIMIT = 3600_000;

export class ForgeApi {
  readonly #transport: ForgeTransport;
  readonly #clock: Clock;
  readonly #host: string;
  readonly #work = new Sequence();
  /** By path. ETags belong to one account, so a change of it needs a new ForgeApi. */
  readonly #kept = new Map<string, CachedAnswer>();
  #pausedUntil = 0;
  #pause = 0;
  #why = '';

  constructor(transport: ForgeTransport, host: string, clock: Clock) {
    this.#transport = transport;
    this.#host = host;
    this.#clock = clock;
  }

  get<T>(path: string, schema: Schema<T>, signal: AbortSignal): Promise<T> {
    return this.#work.run(async () => {
      const kept = this.#kept.get(path);
      const { status, headers, body } = await this.#send({ host: this.#host, path, etag: kept?.etag }, signal);
      // Only the schema below makes values of this path.
      if (status === 304 && kept !== undefined) return kept.value as T;
      const value = parse(body, schema, path);
      const { etag } = headers;
      this.#kept.delete(path);
      if (etag !== undefined) this.#kept.set(path, { etag, value });
      for (const key of this.#kept.keys()) if (this.#kept.size > MOST_KEPT) this.#kept.delete(key);
      return value;
    });
  }

  /** A text such as a log. */
  text(path: string, signal: AbortSignal): Promise<string> {
    return this.#work.run(async () => (await this.#send({ host: this.#host, path }, signal)).body);
  }

  async #send(request: ForgeRequest, signal: AbortSignal): Promise<ForgeAnswer> {
    const now = this.#clock.now();
    // A clock that was set back must not make the pause longer.
    if (now < this.#pausedUntil && this.#pausedUntil - now <= LONGEST_LIMIT) throw new ForgeTrouble('later', this.#why);
    let answer: ForgeAnswer;
    try {
      answer = await this.#transport(request, signal);
    } catch (error) {
      if (error instanceof ForgeTrouble && error.type !== 'later') throw error;
      throw this.#rest(this.#nextPause(), `${this.#host} cannot be reached: ${describeError(error)}`);
    }
    const { status, headers } = answer;
    if (status < 400) {
      this.#pause = 0;
      return answer;
    }
    const limit = limitOf(answer, now);
    if (limit !== undefined) {
      const until = new Date(now + limit).toISOString().slice(11, 16);
      throw this.#rest(limit, `the limit of requests to ${this.#host} is reached; it goes on at ${until} UTC`);
    }
    if (status >= 500) throw this.#rest(this.#nextPause(), `${this.#host} answered ${status}`);
    if (status === 401) throw new ForgeTrouble('setUp', `${this.#host} does not accept the sign-in any more (401).`);
    if (status === 403) {
      const sso = headers['x-github-sso'] === undefined ? '' : ' The organization asks for single sign-on.';
      throw new ForgeTrouble('setUp', `The account may not read this on ${this.#host} (403).${sso}`);
    }
    throw new ForgeTrouble('missing', `${this.#host} has no ${request.path} for this account (${status}).`);
  }

  #nextPause(): number {
    this.#pause = Math.min(LONGEST_PAUSE, this.#pause === 0 ? FIRST_PAUSE : this.#pause * 2);
    return this.#pause;
  }

  #rest(milliseconds: number, why: string): ForgeTrouble {
    this.#pausedUntil = this.#clock.now() + milliseconds;
    this.#why = why;
    return new ForgeTrouble('later', why);
  }
}

/** How long the limits say to wait; undefined: the answer is about something else. */
function limitOf({ status, headers, body }: ForgeAnswer, now: number): number | undefined {
  if (status !== 403 && status !== 429) return undefined;
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after) && headers['retry-after'] !== undefined) return bounded(after * 1000);
  const reset = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']);
  const isUsedUp = (headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining']) === '0';
  if (isUsedUp && Number.isFinite(reset)) return bounded(reset * 1000 - now);
  return status === 429 || /rate limit/i.test(body.slice(0, 2000)) ? LIMIT_PAUSE : undefined;
}

function bounded(milliseconds: number): number {
  return Math.min(LONGEST_LIMIT, Math.max(1000, milliseconds));
}

function parse<T>(body: string, schema: Schema<T>, path: string): T {
  const value = parseJson(body);
  if (value === undefined) throw new ForgeTrouble('later', `the answer to ${path} is no JSON`);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ForgeTrouble('later', `the answer to ${path} is not what was expected`);
}
