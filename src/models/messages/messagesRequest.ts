// Sends a request to the Messages API and reads the answer, over as many calls as it takes. Uses fetch: the SDK reads keys,
// headers and addresses from the environment and from files, and its stream is not bounded.
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { apiBase, keyHeaders, providerOf } from '../api.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { EndpointError } from '../explain.ts';
import { readAnswer } from '../wire/answer.ts';
import { attempt, createKept, forgetReasoning, type Kept, without } from '../wire/attempts.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { readImages } from '../wire/images.ts';
import { sendOnlyAllowed } from '../wire/send.ts';
import { addUsage } from '../wire/usage.ts';
import { modelFacts } from './claude.ts';
import { type Continuation, printMessages } from './messagesBody.ts';
import { addedText } from './messagesInput.ts';
import { MessagesAccumulator } from './messagesStream.ts';

/** How often one answer may pause. */
const MOST_PAUSES = 20;
/** Sent once after results to which the model answered nothing. */
const CONTINUE = 'Please continue.';

const kept = new WeakMap<EndpointOptions, Kept>();

export async function* streamMessages(
  options: EndpointOptions,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const state = kept.get(options) ?? createKept();
  kept.set(options, state);
  const images = await readImages(request);
  const print = (facts: EndpointFacts, more?: Continuation) =>
    printMessages({ ...options, facts, images, ...state }, request, more);
  yield* attempt(
    options,
    {
      send: (facts) => answer(options, request, (more) => print(facts, more), signal),
      next: (facts, refusal) =>
        /signature|thinking.{0,200} cannot be modified/i.test(refusal.text) && forgetReasoning(state, request)
          ? facts
          : without(facts, PATTERNS, refusal, (other) => print(other).body),
    },
    signal,
  );
}

/** What a refusal mentions, and what is left out then. */
const PATTERNS = {
  system_messages: /role ['"`]?system|system messages?\b.{0,200} not supported|messages\.\d+\.role/i,
  block_binding: /block_binding|thinking-binding|anthropic-beta/i,
  tool_reference: /defer_loading|tool_reference/,
  eager_input_streaming: /eager_input_streaming/,
  cache_control: /cache_control/,
  reasoning_effort: /output_config|\beffort\b/,
  thinking: /\bthinking\b/,
  temperature: /temperature/,
  image_url: /\bimages?\b|\bvision\b/i,
} as const;

async function* answer(
  options: EndpointOptions,
  request: ModelRequest,
  print: (more: Continuation) => ReturnType<typeof printMessages>,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  let more: Continuation = { blocks: [], added: undefined };
  let spent: Usage | undefined;
  for (let pauses = 0; ; ) {
    const accumulator = new MessagesAccumulator();
    const calls: ModelPart[] = [];
    let finished: Extract<ModelPart, { type: 'finished' }> | undefined;
    for await (const part of readAnswer(await send(options, print(more), signal), accumulator)) {
      if (part.type === 'finished') finished = part;
      // Only an answer that counts may be followed by its calls.
      else if (part.type === 'tool_call') calls.push(part);
      else yield part;
    }
    if (finished === undefined) return;
    spent = addUsage(spent, finished.usage);
    report(options, accumulator);
    refuseUnlessUsable(accumulator, model);
    const blocks = [...more.blocks, ...accumulator.items];
    if (accumulator.stopReason === 'pause_turn' && pauses < MOST_PAUSES) {
      pauses += 1;
      more = { ...more, blocks };
      continue;
    }
    const isEmpty = !accumulator.hasAnswer && !accumulator.isTruncated && more.blocks.length === 0;
    if (isEmpty && more.added === undefined && request.messages.at(-1)?.role === 'tool') {
      more = { blocks: [], added: CONTINUE };
      continue;
    }
    const items = [...(more.added === undefined ? [] : [addedText(more.added)]), ...blocks];
    const isWhole = !accumulator.isTruncated && !isEmpty;
    yield* calls;
    yield {
      ...finished,
      ...(spent !== undefined && { usage: spent }),
      ...(isWhole && { origin: { api: 'messages' as const, provider: providerOf(baseUrl), model, items } }),
    };
    return;
  }
}

function report({ log, baseUrl }: EndpointOptions, { transformations }: MessagesAccumulator): void {
  if (transformations.length > 0) log?.(`${baseUrl} has changed a request: ${JSON.stringify(transformations)}`);
}

function refuseUnlessUsable({ stopReason, stopDetails }: MessagesAccumulator, model: string): void {
  if (stopReason === 'refusal') {
    throw new EndpointError(stopDetails || 'no reason was given', { status: 400, code: 'refusal' });
  }
  if (stopReason === 'model_context_window_exceeded') {
    const message = `the context window of ${model} is full`;
    throw new EndpointError(message, { status: 400, code: 'context_length_exceeded' });
  }
}

async function send(
  options: EndpointOptions,
  { body, betas }: ReturnType<typeof printMessages>,
  signal: AbortSignal,
): Promise<Response> {
  const { baseUrl, model } = options;
  const key = await options.apiKey();
  const headers = {
    ...(key === undefined ? { 'anthropic-version': '2023-06-01' } : keyHeaders('messages', baseUrl, key)),
    ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
  };
  const init = { method: 'POST', body: new Uint8Array(body), signal };
  const response = await sendOnlyAllowed(options, `${apiBase('messages', baseUrl)}/messages`, headers, init);
  if (response.ok) return response;
  throw errorOf(response, await response.text(), model);
}

function errorOf({ status, headers, statusText }: Response, text: string, model: string): EndpointError {
  const { type, error } = parse(text);
  const { type: kind, message } = (typeof error === 'object' && error !== null ? error : {}) as {
    type?: unknown;
    message?: unknown;
  };
  const said = typeof message === 'string' ? message : text || statusText;
  const waits = headers.has('retry-after') || headers.has('retry-after-ms');
  // Anthropic says when to retry, unless a spending limit is reached.
  const isCapped = status === 429 && type === 'error' && !waits && modelFacts(model).isClaude;
  const code = isCapped ? 'insufficient_quota' : typeof kind === 'string' ? kind : undefined;
  return new EndpointError(`${status} ${said}`, { status, code, headers });
}

function parse(text: string): { readonly type?: unknown; readonly error?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
