// Explains a failed request: what is wrong, the next step, and whether a retry may succeed.
import { type Failure } from '../base/errors.ts';
import { type ModelCode } from '../base/failureCodes.ts';
import { CONTEXT_OVERFLOW, type ModelPart } from '../core/ports/ports.ts';
import { TooLargeError } from '../node/boundedBody.ts';
import { meaningOf } from './refusals.ts';
import { isOverflow } from './overflow.ts';

type FailedPart = Extract<ModelPart, { type: 'failed' }>;

/**
 * An invalid stream, an error inside it, or an end that means that there is no answer: `refused` by a filter,
 * `interrupted` by the server, `overflow` of the context window.
 */
export class StreamError extends Error {
  readonly kind: 'malformed' | 'error' | 'no_stream' | 'refused' | 'interrupted' | 'overflow';
  readonly status: number | undefined;

  constructor(kind: StreamError['kind'], message: string, status?: number) {
    super(message);
    this.name = 'StreamError';
    this.kind = kind;
    this.status = status;
  }
}

/** A refusal, as a status of HTTP or inside a stream. */
export class EndpointError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly headers: Headers | undefined;

  constructor(message: string, details: { status?: number | undefined; code?: string | undefined; headers?: Headers }) {
    super(message);
    this.name = 'EndpointError';
    this.status = details.status;
    this.code = details.code;
    this.headers = details.headers;
  }
}

/** The connection broke during the answer. */
export class StreamBrokenError extends Error {
  /** How much of the answer had arrived: text, reasoning and calls. */
  readonly characters: number;

  constructor(characters: number, cause: unknown) {
    super('the connection broke', { cause });
    this.name = 'StreamBrokenError';
    this.characters = characters;
  }
}

export interface Refusal {
  readonly status: number | undefined;
  /** The endpoint's own message. */
  readonly text: string;
  readonly code: string | undefined;
  readonly parameter: string | undefined;
  readonly retryAfter: number | undefined;
  /** The endpoint's own advice whether to send again. */
  readonly shouldRetry: boolean | undefined;
}

/** Reads an error of the package or of the stream. */
export function readRefusal(error: unknown, now: number): Refusal {
  const { status, code, type, param, headers } = (typeof error === 'object' && error !== null ? error : {}) as {
    status?: unknown;
    code?: unknown;
    type?: unknown;
    param?: unknown;
    headers?: unknown;
  };
  return {
    status: typeof status === 'number' ? status : undefined,
    text: error instanceof Error ? error.message : String(error),
    code: codeOf(code) ?? codeOf(type),
    parameter: typeof param === 'string' ? param : undefined,
    retryAfter: headers instanceof Headers ? retryAfterOf(headers, now) : undefined,
    shouldRetry: headers instanceof Headers ? adviceIn(headers) : undefined,
  };
}

function codeOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function adviceIn(headers: Headers): boolean | undefined {
  const said = headers.get('x-should-retry');
  return said === 'true' || said === 'false' ? said === 'true' : undefined;
}

/** The requested wait in milliseconds. The header has seconds or a date. */
function retryAfterOf(headers: Headers, now: number): number | undefined {
  const precise = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(precise)) return Math.max(0, precise);
  const said = headers.get('retry-after');
  if (said === null) return undefined;
  const wait = /^\s*\d+(\.\d+)?\s*$/.test(said) ? Number(said) * 1000 : Date.parse(said) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}

export function explain(error: unknown, endpoint: { baseUrl: string; model: string }, now = Date.now()): FailedPart {
  if (error instanceof StreamError && error.status === undefined) return explainStream(error, endpoint);
  if (error instanceof StreamBrokenError) return explainBroken(endpoint.baseUrl, error.characters, causeOf(error));
  if (error instanceof TooLargeError) return explainTooLarge(endpoint.baseUrl, error.message);
  const refusal = readRefusal(error, now);
  const { status, text, code, retryAfter, shouldRetry } = refusal;
  if (status === 413 || (isBadRequest(status) && isOverflow(text, code, endpoint.baseUrl)))
    return tooLong(endpoint.model, text);
  if (code !== undefined && REFUSED_CONTENT.has(code)) return contentRefused(endpoint, text);
  const meaning = isOutOfQuota(code) ? 'no_quota' : meaningOf(status, code, text);
  const said = causeOf(error);
  const failure = meaning === undefined ? byStatus(status, said, endpoint) : byMeaning(meaning, said, endpoint);
  const again = meaning === undefined && (shouldRetry ?? (mayPass(status) || code === MALFORMED_CALL));
  return again
    ? { ...failed(failure), retry: retryAfter === undefined ? {} : { afterMilliseconds: retryAfter } }
    : failed(failure);
}

/** Groq: the model has written a call that is not valid. Another attempt mostly succeeds, in the same form. */
export const MALFORMED_CALL = 'tool_use_failed';

/** Codes with which an endpoint or a model declines to answer because of the content. */
const REFUSED_CONTENT = new Set([
  'bio_policy',
  'content_filter',
  'invalid_prompt',
  'misalignment_policy_violation',
  'refusal',
]);

function contentRefused({ baseUrl, model }: { baseUrl: string; model: string }, said: string): FailedPart {
  return failed({
    code: 'content_refused',
    message: `${model} or a filter of ${baseUrl} refused to answer (${said}).`,
    nextStep: 'Rephrase the request or leave out what may have caused it, or choose another model.',
  });
}

function tooLong(model: string, said: string): FailedPart {
  return failed({
    code: CONTEXT_OVERFLOW,
    message: `The conversation is longer than ${model} can read (${said}).`,
    nextStep: 'Start a new chat, or choose a model with a larger context window.',
  });
}

function isOutOfQuota(code: string | undefined): boolean {
  return code === 'insufficient_quota' || code === 'billing_hard_limit_reached';
}

function isBadRequest(status: number | undefined): boolean {
  return status === 400 || status === 422 || status === 500;
}

function mayPass(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;
}

function failed(failure: Failure<ModelCode>): FailedPart {
  return { type: 'failed', failure };
}

function byStatus(
  status: number | undefined,
  said: string,
  { baseUrl, model }: { baseUrl: string; model: string },
): Failure<ModelCode> {
  switch (status) {
    case undefined:
      return {
        code: 'unreachable',
        message: `${baseUrl} cannot be reached (${said}).`,
        nextStep: 'Check that it is running and that its address in the settings is right, then send again.',
      };
    case 400:
    case 422:
      return {
        code: 'bad_request',
        message: `${baseUrl} does not accept the request (${said}).`,
        nextStep: 'Check the options of this model in earshot.models, or choose another with Earshot: Choose Model.',
      };
    case 403:
      return {
        code: 'forbidden',
        message: `${baseUrl} does not let this key use “${model}” (${said}).`,
        nextStep: 'Use a key with that right (Earshot: Set API Key), or choose another model (Earshot: Choose Model).',
      };
    case 404:
      return {
        code: 'not_found',
        message: `${baseUrl} does not know the model “${model}” (${said}).`,
        nextStep: 'Choose one that it has with Earshot: Choose Model, or check its address in the settings.',
      };
    case 429:
      return {
        code: 'rate_limited',
        message: `${baseUrl} asks to slow down (${said}).`,
        nextStep: 'Wait a little, then send again.',
      };
    default:
      return {
        code: 'refused',
        message: `${baseUrl} failed with status ${status} (${said}).`,
        nextStep: 'Send again, or choose another model with Earshot: Choose Model.',
      };
  }
}

function byMeaning(
  meaning: NonNullable<ReturnType<typeof meaningOf>>,
  said: string,
  { baseUrl, model }: { baseUrl: string; model: string },
): Failure<ModelCode> {
  switch (meaning) {
    case 'key_refused':
      return {
        code: meaning,
        message: `${baseUrl} refused the API key (${said}).`,
        nextStep: 'Set it with Earshot: Set API Key, or in the environment, then send again.',
      };
    case 'no_quota':
      return {
        code: meaning,
        message: `The account behind this key has no quota left at ${baseUrl} (${said}).`,
        nextStep: 'Check plan and billing there, or choose another model with Earshot: Choose Model.',
      };
    case 'model_gone':
      return {
        code: 'not_found',
        message: `${baseUrl} does not know the model “${model}” (${said}).`,
        nextStep: 'Choose one that it has with Earshot: Choose Model.',
      };
    case 'region_refused':
      return {
        code: meaning,
        message: `${baseUrl} does not serve your region (${said}).`,
        nextStep: 'Choose a model of another provider with Earshot: Choose Model.',
      };
  }
}

function explainStream(
  { kind, message }: StreamError,
  { baseUrl, model }: { baseUrl: string; model: string },
): FailedPart {
  switch (kind) {
    case 'overflow':
      return tooLong(model, message);
    case 'refused':
      return contentRefused({ baseUrl, model }, message);
    case 'no_stream':
      return failed({
        code: 'no_stream',
        message: `${baseUrl} answered, but not as an OpenAI-compatible endpoint does (${message}).`,
        nextStep: 'Check its address in the settings; it often ends in /v1.',
      });
    case 'malformed':
      return {
        ...failed({
          code: 'malformed',
          message: `${baseUrl} sent something that is no JSON: ${JSON.stringify(message)}.`,
          nextStep: 'Send again; if it happens often, the server or a proxy in between is faulty.',
        }),
        retry: {},
      };
    case 'interrupted':
    case 'error':
      return {
        ...failed({
          code: 'stream_error',
          message: `${baseUrl} broke the answer off (${message}).`,
          nextStep: 'Send again, or choose another model with Earshot: Choose Model.',
        }),
        retry: {},
      };
  }
}

/** `from`: the answering endpoint or model. A retry may succeed, since the request was valid. */
export function explainBroken(from: string, characters: number, said: string): FailedPart {
  const after =
    characters === 0 ? 'before the answer began' : `after ${characters.toLocaleString('en')} characters of the answer`;
  const next = characters === 0 ? 'Send again.' : 'What came of it is kept: write “Go on” to continue from there.';
  return {
    ...failed({
      code: 'stream_broken',
      message: `The connection to ${from} broke ${after} (${said}).`,
      nextStep: `${next} If it happens often, look at the endpoint’s log and at proxies in between.`,
    }),
    retry: {},
  };
}

/** Not retried: the next answer would be just as large. */
function explainTooLarge(baseUrl: string, message: string): FailedPart {
  return failed({
    code: 'answer_too_large',
    message: `${baseUrl} sent more than Earshot reads of one answer: ${message}.`,
    nextStep:
      'Set maxTokens for this model in earshot.models, or choose another with Earshot: Choose Model. If it happens with every request, the endpoint or a proxy in between is faulty.',
  });
}

/** The package wraps the reason; the innermost error is the useful one. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : causeOf(error.cause);
}
