// The model behind an endpoint with the Responses API: OpenAI, Azure, xAI and Meta.
import { type Model } from '../../core/ports/ports.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';

const CONTEXT_WINDOW = 272_000;

export function createResponsesModel(options: EndpointOptions): Model {
  return {
    id: options.model,
    label: options.model,
    detail: new URL(options.baseUrl).host,
    contextWindow: options.options?.contextWindow ?? CONTEXT_WINDOW,
    ...(options.options?.prices !== undefined && { prices: options.options.prices }),
    takesHostMessages: true,
    // The SDK is loaded with the first request, not at activation.
    stream: async function* (request, signal) {
      const { streamResponses } = await import('./responsesRequest.ts');
      yield* streamResponses(options, request, signal);
    },
  };
}
