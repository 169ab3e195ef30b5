// Queries an endpoint without calling a model: lists its models, checks the key, finds local servers.
import * as z from 'zod';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { withoutTrailing } from '../base/text.ts';
import { USER_AGENT } from '../node/userAgent.ts';
import { discard, readWhole, TooLargeError } from '../node/boundedBody.ts';
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
      await discard(response);
      return refused(baseUrl, response.status, apiKey !== undefined);
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

function refused(baseUrl: string, status: number, withKey: boolean): ReturnType<typeof failed> {
  if (status === 401 || status === 403) {
    return withKey
      ? failed('key_refused', `${baseUrl} refused the API key (${status}).`, 'Check the key and set it again.')
      : failed('key_missing', `${baseUrl} wants an API key (${status}).`, 'Set it with Earshot: Set API Key.');
  }
  if (status === 404) {
    return failed('no_list', `${baseUrl} has no list of models (404).`, 'Check the address; it often ends in /v1.');
  }
  return failed('refused', `${baseUrl} failed with status ${status}.`, 'Try again later.');
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
