// Sends requests to an endpoint with the openai package. No other file loads the package.
import OpenAI from 'openai';
import { readStart } from '../../node/boundedBody.ts';
import { USER_AGENT } from '../../node/userAgent.ts';
import { type ModelOptions } from '../../protocol/settings.ts';
import { type EndpointMemory } from '../endpointMemory.ts';

/** Limit of an error body: messages of endpoints are far shorter; more is a proxy's page or an attack. */
const MOST_ERROR_BYTES = 64 * 1024;
const SHOWN_OF_LONG_ERROR = 2000;

export interface EndpointOptions {
  readonly baseUrl: string;
  readonly model: string;
  readonly options?: ModelOptions;
  /** What is known about endpoints. By default it is kept only as long as the model object exists. */
  readonly memory?: EndpointMemory | Promise<EndpointMemory>;
  /** Further headers of each request. They replace no header that Earshot sends itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined for an endpoint that needs none. */
  apiKey(): Promise<string | undefined>;
}

const clients = new WeakMap<EndpointOptions, { readonly key: string; readonly client: OpenAI }>();

/** Throws the package's errors. */
export async function post(
  options: EndpointOptions,
  path: string,
  body: Uint8Array,
  signal: AbortSignal,
): Promise<Response> {
  const client = clientFor(options, (await options.apiKey()) ?? 'none');
  // Sent as bytes: the package would print the whole conversation again for each request.
  return client.post(path, { body, stream: true, signal }).asResponse();
}

/** One client for each model and key, reused by later requests. */
function clientFor(options: EndpointOptions, key: string): OpenAI {
  const known = clients.get(options);
  if (known?.key === key) return known.client;
  const client = new OpenAI({
    baseURL: options.baseUrl,
    // Local servers need no key, but the package requires one.
    apiKey: key,
    // Without these, the package reads variables of the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    // The agent loop decides about retries and timeouts.
    maxRetries: 0,
    timeout: 24 * 60 * 60 * 1000,
    logLevel: 'off',
    fetch: (url, init) => sendOnlyAllowed(options.baseUrl, key, url, init),
  });
  clients.set(options, { key, client });
  return client;
}

/**
 * Sends these headers and no others, to the configured endpoint only: the package takes headers, keys and addresses
 * from the environment too, and describes this machine.
 */
async function sendOnlyAllowed(
  baseUrl: string,
  key: string,
  url: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  if (url instanceof Request || new URL(url).origin !== new URL(baseUrl).origin) {
    throw new Error('the request is not addressed to the configured endpoint');
  }
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
  };
  // The global fetch follows VS Code's proxy settings.
  return withShortError(await globalThis.fetch(url, { ...init, headers }));
}

/** Limits error bodies, which the package reads completely. */
async function withShortError(response: Response): Promise<Response> {
  if (response.ok || response.body === null) return response;
  // If the connection breaks during the body, the status is still reported.
  const { text, cut } = await readStart(response, MOST_ERROR_BYTES).catch(() => ({ text: '', cut: false }));
  const shown = cut ? `${text.slice(0, SHOWN_OF_LONG_ERROR)}… (cut; more than ${MOST_ERROR_BYTES / 1024} KiB)` : text;
  const { status, statusText, headers } = response;
  return new Response(shown, { status, statusText, headers });
}
