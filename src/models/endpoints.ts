// Queries an endpoint without calling a model: lists its models, checks the key, finds local servers.
import { parseJson } from '../base/json/outsideJson.ts';
import * as z from 'zod';
import { describeError, failed, type Result, succeeded } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { USER_AGENT, readStart, readWhole, TooLargeError } from '../node/boundedBody.ts';
import { apiBase, apiOf, isAnthropic, keyHeaders } from './api.ts';
import { type ModelFacts, type Price } from './facts/factsFile.ts';
import { endpointLabel } from './profile.ts';
import { type Provider } from './providers.ts';
import { meaningOf } from './refusals.ts';

/** What an endpoint says about one of its models. */
export interface ListedModel extends ModelFacts {
  readonly id: string;
}

export type Endpoint = Pick<Provider, 'baseUrl'> & Partial<Pick<Provider, 'api' | 'headers'>>;

const count = z.number().int().positive().optional().catch(undefined);
const texts = z.array(z.string()).optional().catch(undefined);
/** US dollars: OpenRouter says them for one token as texts, Together for a million tokens as numbers. */
const price = z
  .union([z.string().transform((text) => Number(text) * 1_000_000), z.number()])
  .optional()
  .catch(undefined);
const listedFields = z.object({
  id: z.string().min(1),
  // Anthropic, OpenRouter.
  display_name: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  // OpenRouter and Together; vLLM; Mistral and LM Studio; Groq; Anthropic; llama.cpp.
  context_length: count,
  max_model_len: count,
  max_context_length: count,
  context_window: count,
  max_input_tokens: count,
  meta: z.object({ n_ctx_train: count }).optional().catch(undefined),
  // Anthropic; Groq; OpenRouter.
  max_tokens: count,
  max_completion_tokens: count,
  top_provider: z.object({ max_completion_tokens: count }).optional().catch(undefined),
  architecture: z.object({ input_modalities: texts }).optional().catch(undefined),
  // Mistral says `vision`, Anthropic nests.
  capabilities: z
    .object({
      vision: z.boolean().optional().catch(undefined),
      image_input: z.object({ supported: z.boolean() }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  pricing: z
    .object({
      prompt: price,
      completion: price,
      input: price,
      output: price,
      input_cache_read: price,
      input_cache_write: price,
    })
    .optional()
    .catch(undefined),
});
const listSchema = z.object({ data: z.array(listedFields.transform(toListed)) });

function toListed(one: z.output<typeof listedFields>): ListedModel {
  const name = one.display_name ?? one.name;
  const window =
    one.context_length ??
    one.max_model_len ??
    one.max_context_length ??
    one.context_window ??
    one.max_input_tokens ??
    one.meta?.n_ctx_train;
  const output = one.top_provider?.max_completion_tokens ?? one.max_completion_tokens ?? one.max_tokens;
  const images =
    one.architecture?.input_modalities?.includes('image') ??
    one.capabilities?.image_input?.supported ??
    one.capabilities?.vision;
  const listed = pricesIn(one.pricing ?? {});
  return {
    id: one.id,
    ...(name !== undefined && name !== one.id && { name: name.slice(0, LONGEST_NAME) }),
    ...defined({ window, output, images, price: listed }),
  };
}

/** OpenRouter lists a price of -1 for models whose price varies. */
function pricesIn(pricing: Readonly<Partial<Record<string, number | undefined>>>): Price | undefined {
  const input = pricing['prompt'] ?? pricing['input'];
  const output = pricing['completion'] ?? pricing['output'];
  const all = [input, output, pricing['input_cache_read'] ?? input, pricing['input_cache_write'] ?? input];
  return all.every((one) => one !== undefined && Number.isFinite(one) && one >= 0) && input !== 0
    ? (all as unknown as Price)
    : undefined;
}

const LONGEST_NAME = 200;

const MOST_LIST_BYTES = 8 * 1024 * 1024;
const MOST_REFUSAL_BYTES = 64 * 1024;
const LONGEST_SENTENCE = 300;
const LIST_MILLISECONDS = 15_000;
const PROBE_MILLISECONDS = 1500;

/** Every failure says what is wrong and what the user can do. */
export async function listModels(
  { baseUrl, api = apiOf(baseUrl), headers: further }: Endpoint,
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
    const identity = apiKey === undefined ? {} : keyHeaders(api, baseUrl, apiKey);
    const headers = { ...further, 'user-agent': USER_AGENT, ...identity };
    // Anthropic lists 20 models unless more are wanted.
    const address = `${apiBase(api, baseUrl)}/models${isAnthropic(baseUrl) ? '?limit=1000' : ''}`;
    const response = await globalThis.fetch(address, { headers, signal, redirect: 'manual' });
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
  return succeeded(parsed.data.data.sort((a, b) => (a.id < b.id ? -1 : 1)));
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
  const why = said === '' ? String(status) : `${status}: “${said}”`;
  switch (meaningOf(status, undefined, said) ?? status) {
    case 'region_refused':
      return failed(
        'region_refused',
        `${baseUrl} does not serve your region (${why}).`,
        'Choose a model of another provider.',
      );
    case 'key_refused':
    case 403:
      return withKey
        ? failed('key_refused', `${baseUrl} refused the API key (${why}).`, 'Check the key and set it again.')
        : failed('key_missing', `${baseUrl} wants an API key (${why}).`, 'Set it with Earshot: Set API Key.');
    case 'no_quota':
      return failed(
        'no_quota',
        `The account behind this key has no credit left at ${baseUrl} (${why}).`,
        'Add credit there and try again, or choose another model.',
      );
    case 404:
      return failed(
        'no_list',
        `${baseUrl} has no list of models (${why}).`,
        'Check the address; it often ends in /v1. Or enter the model’s name.',
      );
    case 429:
      return failed('rate_limited', `${baseUrl} asks to slow down (${why}).`, 'Wait a little, then try again.');
    default:
      return failed(
        'refused',
        `${baseUrl} does not list its models (${why}).`,
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
      const listed = await listModels({ baseUrl }, undefined, AbortSignal.timeout(PROBE_MILLISECONDS));
      if (!listed.ok || listed.value.length === 0) return undefined;
      return { baseUrl, label: endpointLabel(baseUrl) ?? baseUrl, models: listed.value };
    }),
  );
  return found.filter((endpoint) => endpoint !== undefined);
}
