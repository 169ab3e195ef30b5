// Prints a request for the Responses API, sends it and reads the answer.
import { type ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Effort, type ModelOptions } from '../../protocol/settings.ts';
import { providerOf } from '../api.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { type Refusal } from '../explain.ts';
import { readAnswer, post } from '../wire/send.ts';
import { attempt, createKept, forgetReasoning, type Kept, without } from '../wire/attempts.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { foundInMessages } from '../wire/foundTools.ts';
import { type ImageBytes, readImages } from '../wire/images.ts';
import { printBody, printElements } from '../wire/prefixPrinter.ts';
import { announceSending } from '../wire/sending.ts';
import { type ConfigurationUpdate, configurationOf, toInput, toTool } from './responsesInput.ts';
import { reasons, takesAdditionalTools, takesUpdates } from './openaiModels.ts';
import { ResponsesAccumulator } from './responsesStream.ts';

/** The API accepts no less, and keys no longer. */
const LEAST_OUTPUT_TOKENS = 16;
const LONGEST_CACHE_KEY = 64;

const kept = new WeakMap<EndpointOptions, Kept>();

export async function* streamResponses(
  options: EndpointOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const state = kept.get(options) ?? createKept();
  kept.set(options, state);
  const images = await readImages(request, (message) => options.log?.(message));
  const print = (facts: EndpointFacts) => printResponses({ ...options, facts, images, ...state }, request);
  const printToSend = (facts: EndpointFacts) => {
    const printed = print(facts);
    announceSending(options, request, { api: 'responses', facts, body: printed.body, refused: state.refused });
    return printed;
  };
  yield* attempt(
    options,
    {
      send: (facts) => answer(options, printToSend(facts), signal),
      next: (facts, refusal) =>
        refusesReasoning(refusal) && forgetReasoning(state, request)
          ? facts
          : without(facts, PATTERNS, refusal, (other) => print(other).body),
    },
    signal,
  );
}

/** What a refusal mentions, and what is left out then. */
const PATTERNS = {
  instructions: /\binstructions\b/,
  additional_tools: /additional_tools/,
  configuration_update: /configuration_update/,
  allowed_tools: /allowed_tools/,
  prompt_cache_key: /prompt_cache_key/,
  'reasoning.summary': /reasoning\.summary|reasoning summar/i,
  reasoning_effort: /reasoning\.effort/,
  reasoning: /\breasoning\b|encrypted[_ ]content/i,
  temperature: /temperature/,
  response_format: /text\.format|json_schema/,
  image_url: /\bimages?\b|input_image|\bvision\b/i,
} as const;

function refusesReasoning({ code, text }: Refusal): boolean {
  return (
    code === 'invalid_encrypted_content' ||
    /\brs_\w+|required 'reasoning' item|encrypted content .{0,200}verified/i.test(text)
  );
}

interface Printed {
  readonly body: Buffer;
  /** The configuration that is new with this request: the answer's items begin with it. */
  readonly configuration: ConfigurationUpdate | undefined;
}

async function* answer(
  options: EndpointOptions,
  { body, configuration }: Printed,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  const accumulator = new ResponsesAccumulator();
  for await (const part of readAnswer(await post(options, '/responses', body, signal), accumulator)) {
    if (part.type !== 'finished' || accumulator.isTruncated) {
      yield part;
      continue;
    }
    const items = [...(configuration === undefined ? [] : [configuration]), ...accumulator.items];
    yield { ...part, origin: { api: 'responses', provider: providerOf(baseUrl), model, items } };
  }
}

export interface ResponsesPrint extends Kept {
  readonly baseUrl: string;
  readonly model: string;
  readonly options?: ModelOptions | undefined;
  readonly facts: EndpointFacts;
  readonly images: ImageBytes;
}

/** The request's body as JSON in UTF-8. */
export function printResponses(context: ResponsesPrint, request: ModelRequest): Printed {
  const { model, facts, baseUrl } = context;
  const takes = (name: EndpointFacts['without'][number]) => !facts.without.includes(name);
  const updates = takesUpdates(model) && takes('configuration_update');
  const { base, configured, update, configuration } = configure(request, context, updates);
  const inInput =
    takesAdditionalTools(model) && takes('additional_tools') ? foundInMessages(request) : new Set<string>();
  const { found = [], messages } = request;
  const input = {
    provider: providerOf(baseUrl),
    model,
    images: takes('image_url') ? context.images : undefined,
    found: new Map(found.filter(({ name }) => inInput.has(name)).map((tool) => [tool.name, tool])),
    updates,
    refused: context.refused,
    configured,
  };
  const rest = parameters(context, request, {
    takes,
    base,
    tools: [...request.tools, ...found.filter(({ name }) => !inInput.has(name))],
  });
  const form = JSON.stringify([facts.without, context.refusals]);
  const elements = context.printer.print(messages, { form, cycles: 1 }, (from, to) =>
    toInput(messages.slice(from, to), input),
  );
  const first = takes('instructions') ? [] : [{ role: 'developer', content: request.system }];
  const last = update === undefined ? [] : [update];
  return {
    body: printBody(rest, 'input', [printElements(first), ...elements, printElements(last)]),
    configuration,
  };
}

function parameters(
  { model, options = {} }: ResponsesPrint,
  request: ModelRequest,
  {
    takes,
    base,
    tools,
  }: {
    readonly takes: (name: EndpointFacts['without'][number]) => boolean;
    readonly base: ConfigurationUpdate;
    readonly tools: ModelRequest['tools'];
  },
): Omit<ResponseCreateParamsStreaming, 'input'> {
  const { conversation, system, allowed } = request;
  const isReasoning = reasons(model) && takes('reasoning');
  const effort = base.reasoning?.effort;
  const format = base.text?.format;
  return {
    model,
    stream: true,
    store: false,
    ...(takes('instructions') && { instructions: system }),
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      tool_choice: toolChoice(allowed, tools, takes('allowed_tools')),
      parallel_tool_calls: true,
    }),
    ...(isReasoning && {
      include: ['reasoning.encrypted_content' as const],
      reasoning: {
        ...(effort !== undefined && takes('reasoning_effort') && { effort }),
        ...(takes('reasoning.summary') && { summary: 'auto' as const }),
      },
    }),
    ...(format?.type === 'json_schema' && takes('response_format') && { text: { format } }),
    ...(conversation !== undefined &&
      takes('prompt_cache_key') && { prompt_cache_key: conversation.slice(0, LONGEST_CACHE_KEY) }),
    ...(options.temperature !== undefined && takes('temperature') && { temperature: options.temperature }),
    ...(options.maxTokens !== undefined && { max_output_tokens: Math.max(options.maxTokens, LEAST_OUTPUT_TOKENS) }),
  };
}

function toolChoice(
  allowed: ModelRequest['allowed'],
  tools: ModelRequest['tools'],
  takesList: boolean,
): NonNullable<ResponseCreateParamsStreaming['tool_choice']> {
  if (allowed === 'none') return 'none';
  if (allowed === undefined || !takesList) return 'auto';
  const names = tools.map(({ name }) => name).filter((name) => allowed.includes(name));
  return names.length === 0
    ? 'none'
    : { type: 'allowed_tools', mode: 'auto', tools: names.map((name) => ({ type: 'function', name })) };
}

/**
 * The request's parameters stay those of the conversation's first request, so that the cached prefix stays valid; what
 * has changed since is an item before the first answer that was requested with it.
 */
function configure(request: ModelRequest, { options, model, baseUrl }: ResponsesPrint, updates: boolean) {
  const chosen = request.effort ?? options?.reasoningEffort;
  const wanted = configurationFor(chosen, request);
  if (!updates) return { base: wanted, configured: undefined, update: undefined, configuration: undefined };
  const provider = providerOf(baseUrl);
  const earlier: { readonly message: ModelMessage; readonly update: ConfigurationUpdate }[] = [];
  for (const message of request.messages) {
    if (message.role !== 'assistant' || message.origin?.provider !== provider) continue;
    const update = message.origin.model === model ? configurationOf(message) : undefined;
    if (update !== undefined) earlier.push({ message, update });
  }
  const [first] = earlier;
  if (first === undefined) return { base: wanted, configured: undefined, update: undefined, configuration: wanted };
  // An effort stays in force until another one is named, so the model's default must be named, too.
  const usual = earlier.some(({ update }) => update.reasoning !== undefined) ? DEFAULT_EFFORT : undefined;
  const next = configurationFor(chosen ?? first.update.reasoning?.effort ?? usual, request);
  const isSame = JSON.stringify(earlier.at(-1)?.update) === JSON.stringify(next);
  const update = isSame ? undefined : next;
  return { base: first.update, configured: first.message, update, configuration: update };
}

/** Of the models that take updates. */
const DEFAULT_EFFORT = 'medium';

function configurationFor(effort: Effort | null | undefined, { schema }: ModelRequest): ConfigurationUpdate {
  const format =
    schema === undefined
      ? { type: 'text' as const }
      : { type: 'json_schema' as const, name: 'answer', schema: { ...schema }, strict: false };
  return {
    type: 'configuration_update',
    ...(effort !== undefined && effort !== null && { reasoning: { effort } }),
    text: { format },
  };
}
