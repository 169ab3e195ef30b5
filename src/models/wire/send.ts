// Sends a request with allowed headers only, and bounds the body of an error.
import { readStart } from '../../node/boundedBody.ts';
import { USER_AGENT } from '../../node/userAgent.ts';
import { type EndpointOptions } from './endpoint.ts';

/** Limit of an error body: messages of endpoints are far shorter; more is a proxy's page or an attack. */
const MOST_ERROR_BYTES = 64 * 1024;
const SHOWN_OF_LONG_ERROR = 2000;

/**
 * Sends these headers and no others, to the configured endpoint only: packages take headers, keys and addresses
 * from the environment too, and describe this machine.
 */
export async function sendOnlyAllowed(
  options: Pick<EndpointOptions, 'baseUrl' | 'headers'>,
  url: string | URL | Request,
  request: Readonly<Record<string, string>>,
  init: RequestInit = {},
): Promise<Response> {
  if (url instanceof Request || new URL(url).origin !== new URL(options.baseUrl).origin) {
    throw new Error('the request is not addressed to the configured endpoint');
  }
  const headers = new Headers(options.headers);
  const own = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': USER_AGENT, ...request };
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  // In a redirect to another host, fetch leaves out the authorization, but no other header.
  const isSafe = options.headers === undefined && !('x-api-key' in request) && !('api-key' in request);
  // The global fetch follows VS Code's proxy settings.
  return withShortError(await globalThis.fetch(url, { ...init, headers, redirect: isSafe ? 'follow' : 'error' }));
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
