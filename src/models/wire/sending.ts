// Tells the caller of a model how a request is printed, so that it can be printed again from the log.
import { defined } from '../../base/json/defined.ts';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { crc32 } from '../../node/crc32.ts';
import { type ModelApi } from '../../protocol/event.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { shippedProfile } from '../profile.ts';
import { type EndpointOptions } from './endpoint.ts';

interface PrintedRequest {
  readonly api: ModelApi;
  readonly facts: EndpointFacts;
  readonly body: Uint8Array;
  /** Answers whose reasoning is left out. */
  readonly refused?: WeakSet<ModelMessage>;
}

export function announceSending(
  { baseUrl, model, options = {} }: EndpointOptions,
  { conversation, effort, allowed, messages, image, sending }: ModelRequest,
  { api, facts: { profile, without }, body, refused }: PrintedRequest,
): void {
  if (sending === undefined) return;
  const shipped: Readonly<Record<string, unknown>> = { ...shippedProfile(baseUrl, model) };
  const learnt = Object.entries(profile).filter(([field, value]) => shipped[field] !== value);
  const unreasoned = refused === undefined ? 0 : messages.findLastIndex((message) => refused.has(message)) + 1;
  sending({
    api,
    base_url: plainAddress(baseUrl),
    model,
    ...defined({ conversation, effort }),
    bytes: body.length,
    crc: crc32(body),
    ...defined({
      temperature: options.temperature,
      max_tokens: options.maxTokens,
      usual_effort: options.reasoningEffort,
    }),
    ...(allowed !== undefined && allowed !== 'none' && { allowed: [...allowed] }),
    ...(api === 'chat' && learnt.length > 0 && { profile: Object.fromEntries(learnt) }),
    ...(without.length > 0 && { without: [...without] }),
    ...(image === undefined && { no_images: true as const }),
    ...(unreasoned > 0 && { unreasoned }),
  });
}

function plainAddress(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname === '/' ? '' : pathname}`;
}
