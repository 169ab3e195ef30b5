// Queries an endpoint without calling a model: lists its models, checks the key, finds local servers.
import * as z from 'zod';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { withoutTrailing } from '../base/text.ts';
import { USER_AGENT } from '../node/userAgent.ts';
import { readStart, readWhole, TooLargeError } from '../node/boundedBody.ts';
import { endpointLabel } from './profile.ts';

export interface ListedModel {
  readonly id: string;
  /** Reported by OpenRouter, vLLM and some others. */
  readonly contextWindow?: number;
}

const count = z.number().int().positive().optional().catch(undefined);
const listSchema = z.object({
  data: z.array(
    z.object({
      id: z.string().min(1),
      context_length: count,
      max_model_len: count,
      max_context_length: count,
    }),
  ),
});

const MOST_LIST_BYTES = 8 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;
const LONGEST_SENTENCE = 300;
const LIST_MILLISECONDS = 15_000;
const PROBE_MILLISECONDS = 1500;

/** Every failure says what is wrong and what the user can do. */
export async function listModels(
  baseUrl: string,
  apiKey: string | undefined,
  signal: AbortSignal = AbortSignal.timeout(LIST_MILLISECONDS),
): Promise<Result<readonly ListedModel[]>> {
  const unreachable = (error: unknown) =>
    failed(
      'unreachable',
      `${baseUrl} cannot be reached (${signal.aborted ? 'it did not answer in time' : causeOf(error)}).`,
      'Check the address, and that it is running.',
    );
  let text: string;
  try {
    const headers = { 'user-agent': USER_AGENT, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) };
    const response = await globalThis.fetch(`${withoutTrailing(baseUrl, '/')}/models`, { headers, signal });
    if (!response.ok) {
      const { text: body } = await readStart(response, MOST_REFUSAL_BYTES);
      return refused(baseUrl, response.status, { said: sentenceIn(body, apiKey), withKey: apiKey !== undefined });
    }
    text = await readWhole(response, MOST_LIST_BYTES, 'its list of models');
  } catch (error) {
    return error instanceof TooLargeError ? tooLarge(baseUrl, error) : unreachable(error);
  }
  const parsed = listSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    return failed(
      'no_list',
      `${baseUrl} answers, but not as an OpenAI-compatible endpoint does.`,
      'Check the address; it often ends in /v1.',
    );
  }
  const models = parsed.data.data.map(({ id, context_length, max_model_len, max_context_length }) => {
    const contextWindow = context_length ?? max_model_len ?? max_context_length;
    return { id, ...(contextWindow !== undefined && { contextWindow }) };
  });
  return succeeded(models.sort((a, b) => (a.id < b.id ? -1 : 1)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tooLarge(baseUrl: string, { message }: TooLargeError): ReturnType<typeof failed> {
  return failed(
    'list_too_large',
    `${baseUrl} answers, but ${message}.`,
    'Check the address; or type the model’s name instead of choosing it from the list.',
  );
}

/** The forms of error messages: OpenAI and most others, Mistral, FastAPI. */
const refusalSchema = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
]);

/** The server's own sentence in one line, without the key, which some servers repeat. Empty if it sent none. */
function sentenceIn(body: string, apiKey: string | undefined): string {
  const parsed = refusalSchema.safeParse(parseJson(body));
  // A page of a proxy, or other JSON, says nothing that can be shown in a line.
  const said = parsed.success ? parsed.data : /^\s*[<{[]/.test(body) ? '' : body;
  const hidden = apiKey === undefined || apiKey === '' ? said : said.replaceAll(apiKey, '…');
  const line = hidden.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST_SENTENCE ? `${line.slice(0, LONGEST_SENTENCE)}…` : line;
}

function refused(
  baseUrl: string,
  status: number,
  { said, withKey }: { readonly said: string; readonly withKey: boolean },
): ReturnType<typeof failed> {
  const why = said === '' ? `(${status})` : `(${status}: “${said}”)`;
  switch (status) {
    case 401:
    case 403:
      return withKey
        ? failed('key_refused', `${baseUrl} refused the API key ${why}.`, 'Check the key and set it again.')
        : failed('key_missing', `${baseUrl} wants an API key ${why}.`, 'Set it with Earshot: Set API Key.');
    case 402:
      return failed(
        'no_quota',
        `The account behind this key has no credit left at ${baseUrl} ${why}.`,
        'Add credit there and try again, or choose another model.',
      );
    case 404:
      return failed(
        'no_list',
        `${baseUrl} has no list of models ${why}.`,
        'Check the address; it often ends in /v1. Or enter the model’s name.',
      );
    case 429:
      return failed('rate_limited', `${baseUrl} asks to slow down ${why}.`, 'Wait a little, then try again.');
    default:
      return failed(
        'refused',
        `${baseUrl} does not list its models ${why}.`,
        'Try again later, or enter a model’s name.',
      );
  }
}

function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : describeError(error);
}

export interface FoundEndpoint {
  readonly baseUrl: string;
  readonly label: string;
  readonly models: readonly ListedModel[];
}

/** Default ports of Ollama, LM Studio, llama.cpp and vLLM. */
const LOCAL_PORTS = [11434, 1234, 8080, 8000] as const;

/** The endpoints that answer in time and list at least one model. */
export async function findLocalEndpoints(ports: readonly number[] = LOCAL_PORTS): Promise<FoundEndpoint[]> {
  const found = await Promise.all(
    ports.map(async (port) => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      const listed = await listModels(baseUrl, undefined, AbortSignal.timeout(PROBE_MILLISECONDS));
      if (!listed.ok || listed.value.length === 0) return undefined;
      return { baseUrl, label: endpointLabel(baseUrl) ?? baseUrl, models: listed.value };
    }),
  );
  return found.filter((endpoint) => endpoint !== undefined);
}
