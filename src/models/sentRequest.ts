// Prints a request again as it was sent, from what the log has of it.
import { defined } from '../base/json/defined.ts';
import { type ModelMessage } from '../core/ports/modelMessages.ts';
import { type ModelRequest } from '../core/ports/ports.ts';
import { crc32 } from '../node/crc32.ts';
import { type SentRequest } from '../protocol/client/sentRequest.ts';
import { apiBase } from './api.ts';
import { printBody } from './chat/chatModel.ts';
import { type EndpointFacts } from './endpointMemory.ts';
import { printMessages } from './messages/messagesBody.ts';
import { shippedProfile } from './profile.ts';
import { printResponses } from './responses/responsesRequest.ts';
import { readImages } from './wire/images.ts';
import { PrefixPrinter } from './wire/prefixPrinter.ts';

export interface PrintedAgain {
  readonly body: string;
  /** It has the length and checksum of the body that was sent. */
  readonly isExact: boolean;
  readonly url: string;
}

const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;

/** Throws if the request cannot be printed, such as with the form of a later version. */
export async function printAgain(sent: Omit<SentRequest, 'through'>, built: ModelRequest): Promise<PrintedAgain> {
  const { api, base_url: baseUrl, model, conversation, allowed, effort, bytes, crc } = sent;
  const { image, ...rest } = built;
  const request: ModelRequest = {
    ...rest,
    ...defined({ conversation, allowed, effort }),
    ...(image !== undefined && sent.no_images !== true && { image }),
  };
  const options = defined({
    temperature: sent.temperature,
    maxTokens: sent.max_tokens,
    reasoningEffort: sent.usual_effort,
  });
  const facts = {
    profile: { ...shippedProfile(baseUrl, model), ...sent.profile },
    without: sent.without ?? [],
  } as EndpointFacts;
  const images = await readImages(request);
  const printer = new PrefixPrinter();
  const first = request.messages.slice(0, sent.unreasoned ?? 0);
  const refused = new WeakSet<ModelMessage>(first.filter(({ role }) => role === 'assistant'));
  const context = { baseUrl, model, options, facts, images, printer, refused, refusals: first.length };
  const printed = {
    chat: () => printBody({ baseUrl, model, options, apiKey: async () => undefined }, request, facts, images, printer),
    responses: () => printResponses(context, request).body,
    messages: () => printMessages(context, request).body,
  }[api]();
  return {
    body: printed.toString('utf8'),
    isExact: printed.length === bytes && crc32(printed) === crc,
    url: `${apiBase(api, baseUrl)}${PATHS[api]}`,
  };
}
