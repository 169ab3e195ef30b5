// Prints the requests of both native APIs without a network, as the models would send them.
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { createEndpointMemory, type EndpointFacts } from '../../../../src/models/endpointMemory.ts';
import { type Continuation, printMessages } from '../../../../src/models/messages/messagesBody.ts';
import { printResponses } from '../../../../src/models/responses/responsesRequest.ts';
import { readImages } from '../../../../src/models/wire/images.ts';
import { PrefixPrinter } from '../../../../src/models/wire/prefixPrinter.ts';
import { type ModelOptions } from '../../../../src/protocol/settings.ts';

export interface PrintOptions {
  readonly baseUrl?: string;
  readonly options?: ModelOptions;
  readonly without?: EndpointFacts['without'];
  readonly printer?: PrefixPrinter;
  readonly refused?: readonly ModelMessage[];
  /** Messages: what continues an answer. */
  readonly more?: Continuation;
}

async function contextOf(baseUrl: string, model: string, request: ModelRequest, given: PrintOptions) {
  const { profile } = createEndpointMemory().get(baseUrl, model);
  return {
    baseUrl,
    model,
    options: given.options,
    facts: { profile, without: given.without ?? [] },
    images: await readImages(request),
    printer: given.printer ?? new PrefixPrinter(),
    refused: new WeakSet(given.refused ?? []),
    refusals: 0,
  };
}

type Body = Record<string, unknown>;

export async function responsesBody(model: string, request: ModelRequest, given: PrintOptions = {}): Promise<Body> {
  const context = await contextOf(given.baseUrl ?? 'https://api.openai.com/v1', model, request, given);
  return JSON.parse(printResponses(context, request).body.toString()) as Body;
}

export async function messagesBody(model: string, request: ModelRequest, given: PrintOptions = {}): Promise<Body> {
  const context = await contextOf(given.baseUrl ?? 'https://api.anthropic.com', model, request, given);
  return JSON.parse(printMessages(context, request, given.more).body.toString()) as Body;
}
