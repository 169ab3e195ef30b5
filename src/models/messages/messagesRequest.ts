// Sends a request to the Messages API and reads the answer, over as many calls as it takes. Uses fetch: the SDK reads keys,
// headers and addresses from the environment and from files, and its stream is not bounded.
import { parseObject } from '../../base/json/outsideJson.ts';
import { defined } from '../../base/json/defined.ts';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { apiBase, isAnthropic, keyHeaders, providerOf } from '../api.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { EndpointError } from '../explain.ts';
import { readAnswer, sendOnlyAllowed } from '../wire/send.ts';
import { attempt, createKept, forgetReasoning, type Kept, without } from '../wire/attempts.ts';
import { type EndpointOptions } from '../wire/endpoint.ts';
import { readImages } from '../wire/images.ts';
import { announceSending } from '../wire/sending.ts';
import { modelFacts } from './claude.ts';
import { type Continuation, type PrintedMessages, printMessages } from './messagesBody.ts';
import { addedText, type IdMark } from './messagesInput.ts';
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
  const images = await readImages(request, (message) => options.log?.(message));
  const print = (facts: EndpointFacts, more?: Continuation) =>
    printMessages({ ...options, facts, images, ...state }, request, more);
  const printToSend = (facts: EndpointFacts, more: Continuation) => {
    const printed = print(facts, more);
    // What continues an answer is not in the log until the answer is complete.
    if (more.blocks.length === 0 && more.added === undefined)
      announceSending(options, request, { api: 'messages', facts, body: printed.body, refused: state.refused });
    return printed;
  };
  yield* attempt(
    options,
    {
      send: (facts) => answer(options, request, (more) => printToSend(facts, more), signal),
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
  diagnostics: /\bdiagnostics\b|previous_message_id/,
  system_messages: /role ['"`]?system|system messages?\b.{0,200} not supported|messages\.\d+\.role/i,
  message_effort: /messages\.\d+\.(?:system\.)?output_config|mid-conversation-output-config/i,
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
  print: (more: Continuation) => PrintedMessages,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const { baseUrl, model } = options;
  let more: Continuation = { blocks: [], added: undefined };
  let spent: Usage | undefined;
  for (let pauses = 0; ; ) {
    const accumulator = new MessagesAccumulator();
    const calls: ModelPart[] = [];
    let finished: Extract<ModelPart, { type: 'finished' }> | undefined;
    const printed = print(more);
    for await (const part of readAnswer(await send(options, printed, signal), accumulator)) {
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
    const { mark } = printed;
    const named: IdMark[] =
      isAnthropic(baseUrl) && accumulator.id !== '' ? [{ type: 'message_id', id: accumulator.id }] : [];
    const marks = [
      ...named,
      ...(mark === undefined ? [] : [mark]),
      ...(more.added === undefined ? [] : [addedText(more.added)]),
    ];
    const items = [...marks, ...blocks];
    const isWhole = !accumulator.isTruncated && !isEmpty;
    yield* calls;
    yield {
      ...finished,
      ...defined({ usage: spent }),
      ...(isWhole && { origin: { api: 'messages' as const, provider: providerOf(baseUrl), model, items } }),
    };
    return;
  }
}

function report({ log, baseUrl }: EndpointOptions, { transformations, missed }: MessagesAccumulator): void {
  if (missed !== undefined) log?.(`${baseUrl} could not read the prompt from its cache: ${JSON.stringify(missed)}`);
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
  { body, betas }: PrintedMessages,
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
  const { type, error } = parseObject(text) ?? {};
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

/** Adds up the usage of several calls that make one answer. Pure. */
function addUsage(first: Usage | undefined, second: Usage | undefined): Usage | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const sum = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : (a ?? 0) + (b ?? 0);
  const cached = sum(first.cached_tokens, second.cached_tokens);
  const written = sum(first.written_tokens, second.written_tokens);
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    ...defined({ cached_tokens: cached, written_tokens: written }),
  };
}
