// The model behind an endpoint with the Messages API: Anthropic and compatible servers.
import { type Model } from '../../core/ports/ports.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { modelFacts } from './claude.ts';

const CONTEXT_WINDOW = 200_000;

export function createMessagesModel(options: EndpointOptions): Model {
  const { systemMessages, isClaude, efforts } = modelFacts(options.model);
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: options.options?.contextWindow ?? CONTEXT_WINDOW,
    ...(options.options?.prices !== undefined && { prices: options.options.prices }),
    ...(systemMessages && { takesHostMessages: true }),
    ...(isClaude && { takesImages: true }),
    ...(efforts.length > 0 && { efforts }),
    stream: async function* (request, signal) {
      const { streamMessages } = await import('./messagesRequest.ts');
      yield* streamMessages(options, request, signal);
    },
  };
}
