// Asks a server on this machine how much its model can read: Ollama, llama.cpp and LM Studio say it only in their own APIs,
// and some cut a request that is longer without a word.
import { isIPv4 } from 'node:net';
import * as z from 'zod';
import { defined } from '../base/json/defined.ts';
import { parseJson } from '../base/json/outsideJson.ts';
import { readWhole, USER_AGENT } from '../node/boundedBody.ts';
import { apiOf, keyHeaders } from './api.ts';
import { type Endpoint } from './endpoints.ts';
import { type ModelFacts } from './facts/factsFile.ts';
import { endpointLabel } from './profile.ts';

const PROBE_MILLISECONDS = 1500;
const MOST_BYTES = 8 * 1024 * 1024;

export type ServedFacts = Pick<ModelFacts, 'window' | 'images'>;

/** Whether the address is this machine's or its network's: no other server is asked. */
export function isNear(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  if (hostname === 'localhost' || hostname === '[::1]' || hostname.endsWith('.local')) return true;
  return isIPv4(hostname) && /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/.test(hostname);
}

/** What the server says about a model that it serves or would load. Empty: nothing, or it is not near. Never rejects. */
export async function readServed(endpoint: Endpoint, model: string, apiKey: string | undefined): Promise<ServedFacts> {
  if (!isNear(endpoint.baseUrl)) return {};
  const label = endpointLabel(endpoint.baseUrl) ?? '';
  const signal = AbortSignal.timeout(PROBE_MILLISECONDS);
  const ask: Ask = (path, body) => read(endpoint, { path, body }, apiKey, signal);
  const own = SERVERS[label];
  // A port of its own choice: each of them answers only to its own paths.
  const all = label === 'vLLM' ? [] : own === undefined ? Object.values(SERVERS) : [own];
  const found = await Promise.all(all.map((served) => served(ask, model)));
  return found.find(({ window }) => window !== undefined) ?? {};
}

/** The answer as data; undefined: there is none. */
type Ask = (path: string, body?: object) => Promise<unknown>;

async function read(
  { baseUrl, api = apiOf(baseUrl), headers: further }: Endpoint,
  { path, body }: { readonly path: string; readonly body: object | undefined },
  apiKey: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const identity = apiKey === undefined ? {} : keyHeaders(api, baseUrl, apiKey);
    const response = await globalThis.fetch(`${new URL(baseUrl).origin}${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...further, 'user-agent': USER_AGENT, 'content-type': 'application/json', ...identity },
      signal,
      redirect: 'manual',
    });
    if (response.ok) return parseJson(await readWhole(response, MOST_BYTES, 'its answer'));
    await response.body?.cancel();
    return undefined;
  } catch {
    // It is another server, or busy; the window stays what it was.
    return undefined;
  }
}

const count = z.number().int().positive().optional().catch(undefined);
const texts = z.array(z.string()).optional().catch(undefined);
const shown = z.object({
  model_info: z.record(z.string(), z.unknown()).optional().catch(undefined),
  parameters: z.string().optional().catch(undefined),
  capabilities: texts,
});
const running = z.object({ models: z.array(z.object({ name: z.string(), context_length: count })) });
const props = z.object({
  default_generation_settings: z.object({ n_ctx: count }),
  modalities: z.object({ vision: z.boolean() }).optional().catch(undefined),
});
const listed = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string().optional().catch(undefined),
      max_context_length: count,
      loaded_context_length: count,
    }),
  ),
});

const SERVERS: Readonly<Record<string, (ask: Ask, model: string) => Promise<ServedFacts>>> = {
  /** It cuts at the context that a model is loaded with, which is far smaller than what the model can read. */
  Ollama: async (ask, model) => {
    const now = running.safeParse(await ask('/api/ps'));
    // Nothing is posted to another server.
    const about = now.success ? shown.safeParse(await ask('/api/show', { model })) : undefined;
    if (about?.data?.model_info === undefined) return {};
    const names = [model, `${model}:latest`];
    const loaded = now.data?.models.find(({ name }) => names.includes(name));
    const set = /^num_ctx\s+(\d{1,9})$/m.exec(about.data.parameters ?? '')?.[1];
    const trained = Object.entries(about.data.model_info).find(([name]) => name.endsWith('.context_length'))?.[1];
    const most = loaded?.context_length ?? (set === undefined ? trained : Number(set));
    return defined({ window: count.parse(most), images: about.data.capabilities?.includes('vision') });
  },
  'llama.cpp': async (ask) => {
    const about = props.safeParse(await ask('/props')).data;
    return defined({ window: about?.default_generation_settings.n_ctx, images: about?.modalities?.vision });
  },
  'LM Studio': async (ask, model) => {
    const about = listed.safeParse(await ask('/api/v0/models')).data?.data.find(({ id }) => id === model);
    const window = about?.loaded_context_length ?? about?.max_context_length;
    return defined({ window, images: about?.type === undefined ? undefined : about.type === 'vlm' });
  },
};
