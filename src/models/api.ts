// The API of an endpoint: which one it serves best, its address, and the headers that carry the key. Pure.
import { withoutTrailing } from '../base/text.ts';
import { type ModelApi } from '../protocol/event.ts';

/** Regions have hosts of their own below these, such as `eu.api.openai.com`. */
const RESPONSES_HOSTS = ['api.openai.com', 'openai.azure.com', 'api.x.ai', 'api.meta.ai'];

/** The API of an endpoint whose settings name none. */
export function apiOf(baseUrl: string): ModelApi {
  const { hostname, pathname } = new URL(baseUrl);
  if (RESPONSES_HOSTS.some((host) => hostname === host || hostname.endsWith(`.${host}`))) return 'responses';
  if (hostname === 'api.anthropic.com' || withoutTrailing(pathname, '/').endsWith('/anthropic')) return 'messages';
  return 'chat';
}

/** What the paths of an API are relative to. Azure serves it below `/openai/v1`, servers for Messages below `/v1`. */
export function apiBase(api: ModelApi, baseUrl: string): string {
  const base = withoutTrailing(baseUrl, '/');
  const { pathname } = new URL(base);
  if (api !== 'messages' && isAzure(base) && !pathname.includes('/openai')) return `${base}/openai/v1`;
  return api === 'messages' && !/\/v\d+$/.test(pathname) ? `${base}/v1` : base;
}

/** The headers that identify the user to this endpoint. */
export function keyHeaders(api: ModelApi, baseUrl: string, key: string): Readonly<Record<string, string>> {
  if (api !== 'messages') return isAzure(baseUrl) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
  const version = { 'anthropic-version': '2023-06-01', 'x-api-key': key };
  // Compatible servers expect the key in one of the two places.
  return isAnthropic(baseUrl) ? version : { ...version, authorization: `Bearer ${key}` };
}

export function isAnthropic(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === 'api.anthropic.com';
}

function isAzure(baseUrl: string): boolean {
  return new URL(baseUrl).hostname.endsWith('.azure.com');
}

/** What identifies an endpoint in the log: opaque items go back only to the provider that made them. */
export function providerOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}
