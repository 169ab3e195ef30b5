// Sends requests to an endpoint with the openai package. No other file loads the package.
import OpenAI from 'openai';
import { apiBase, keyHeaders } from '../api.ts';
import { type EndpointOptions } from './endpoint.ts';
import { sendOnlyAllowed } from './send.ts';

const clients = new WeakMap<EndpointOptions, { readonly key: string; readonly client: OpenAI }>();

/** Throws the package's errors. */
export async function post(
  options: EndpointOptions,
  path: string,
  body: Uint8Array,
  signal: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const client = clientFor(options, (await options.apiKey()) ?? 'none');
  // Sent as bytes: the package would print the whole conversation again for each request.
  return client.post(path, { body, stream: true, signal, headers: marked(headers) }).asResponse();
}

/** Tells the headers of a request from those that the package adds. */
const MARK = 'x-earshot-';

function marked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${MARK}${name}`, value]));
}

function unmarked(headers: Headers): Record<string, string> {
  const own = [...headers].filter(([name]) => name.startsWith(MARK));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(MARK.length), value]));
}

/** One client for each model and key, reused by later requests. */
function clientFor(options: EndpointOptions, key: string): OpenAI {
  const known = clients.get(options);
  if (known?.key === key) return known.client;
  const client = new OpenAI({
    baseURL: apiBase('chat', options.baseUrl),
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
    fetch: (url, init) => {
      const headers = { ...unmarked(new Headers(init?.headers)), ...keyHeaders('chat', options.baseUrl, key) };
      return sendOnlyAllowed(options, url, headers, init);
    },
  });
  clients.set(options, { key, client });
  return client;
}
