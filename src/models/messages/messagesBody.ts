// Prints a request for the Messages API. Pure.
import { type BetaTool, type MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/beta/messages';
import { defined } from '../../base/json/defined.ts';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type ModelOptions } from '../../protocol/settings.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { isAnthropic, providerOf } from '../api.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { foundInMessages } from '../wire/foundTools.ts';
import { type ImageBytes } from '../wire/images.ts';
import { type PrefixPrinter, printBody, printElements } from '../wire/prefixPrinter.ts';
import { type ClaudeEffort, modelFacts, type Thinking, thinkingFor } from './claude.ts';
import {
  addedText,
  type EffortMark,
  effortOf,
  messageIdOf,
  toMessages,
  withBreakpoints,
  withoutEmpty,
} from './messagesInput.ts';

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';
const INTERLEAVED_BETA = 'interleaved-thinking-2025-05-14';
const EFFORT_BETA = 'mid-conversation-output-config-2026-07-01';
/** Of the models whose effort can change. */
const DEFAULT_EFFORT = 'high';
const EPHEMERAL = { cache_control: { type: 'ephemeral' as const } };

/** What is sent after the messages, to continue an answer. */
export interface Continuation {
  /** Blocks of an answer that paused. */
  readonly blocks: readonly object[];
  /** A text of the user that follows results which the model did not answer. */
  readonly added: string | undefined;
}

export interface MessagesPrint {
  readonly baseUrl: string;
  readonly model: string;
  readonly options?: ModelOptions | undefined;
  readonly facts: EndpointFacts;
  readonly images: ImageBytes;
  readonly printer: PrefixPrinter;
  readonly refused: WeakSet<ModelMessage>;
  readonly refusals: number;
}

type Takes = (name: EndpointFacts['without'][number]) => boolean;

export interface PrintedMessages {
  readonly body: Buffer;
  /** For the header of the same request. */
  readonly betas: readonly string[];
  /** The effort that is new with this request: the answer's items begin with it. */
  readonly mark: EffortMark | undefined;
}

export function printMessages(
  context: MessagesPrint,
  request: ModelRequest,
  { blocks, added }: Continuation = { blocks: [], added: undefined },
): PrintedMessages {
  const { facts, baseUrl, model, images } = context;
  const takes: Takes = (name) => !facts.without.includes(name);
  const known = modelFacts(model);
  const referable = known.toolReferences && takes('tool_reference') && request.tools.length > 0;
  const references = referable ? foundInMessages(request) : new Set<string>();
  const visible = withoutEmpty(request.messages);
  const { thinking, effort } = thoughtFor(context, request, takes);
  const changes = known.messageEffort && takes('message_effort') && takes('system_messages');
  const efforts = changes && thinking?.type === 'adaptive' ? effortsOf(visible, effort, context) : undefined;
  const next = nextAnswer(added);
  const messages = added === undefined && efforts?.update === undefined ? visible : [...visible, next];
  const input = {
    provider: providerOf(baseUrl),
    images: takes('image_url') ? images : undefined,
    systemMessages: known.systemMessages && takes('system_messages'),
    references,
    refused: context.refused,
    signed: isAnthropic(baseUrl),
    efforts: new Map([...(efforts?.changed ?? []), ...(efforts?.update ? [[next, efforts.update] as const] : [])]),
  };
  const { rest, betas } = parameters(context, request, {
    takes,
    references,
    thinking,
    effort: efforts === undefined ? effort : efforts.first,
  });
  const form = JSON.stringify([facts.without, context.refusals, efforts !== undefined]);
  const mark = takes('cache_control') ? withBreakpoints : undefined;
  const elements = context.printer.print(messages, { form, cycles: 2 }, (from, to) => {
    const mapped = toMessages(messages, [from, Math.min(to, visible.length)], input);
    return to === messages.length && mark !== undefined ? mark(mapped) : mapped;
  });
  const paused = blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }];
  return {
    body: printBody(rest, 'messages', [...elements, printElements(paused)]),
    betas: [...betas, ...(input.efforts.size > 0 ? [EFFORT_BETA] : [])],
    mark: efforts?.mark,
  };
}

/** The answer that does not exist yet: an added text and a changed effort belong to it. */
function nextAnswer(added: string | undefined): ModelMessage {
  const items = added === undefined ? [] : [addedText(added)];
  return { role: 'assistant', content: '', calls: [], origin: { api: 'messages', provider: '', model: '', items } };
}

/**
 * The request's effort stays that of the conversation's first request, because the cached messages depend on it; a
 * system message before the first answer with another effort changes it.
 */
function effortsOf(messages: readonly ModelMessage[], wanted: ClaudeEffort | undefined, context: MessagesPrint) {
  const { model, baseUrl } = context;
  const provider = providerOf(baseUrl);
  const own: { readonly message: ModelMessage; readonly effort: ClaudeEffort | undefined }[] = [];
  for (const message of messages) {
    if (message.role !== 'assistant' || message.origin?.api !== 'messages') continue;
    const isOwn = message.origin.provider === provider && message.origin.model === model;
    if (isOwn) own.push({ message, effort: effortOf(message) });
  }
  const marked = (effort: ClaudeEffort): EffortMark => ({ type: 'effort', effort });
  const [first, ...later] = own;
  if (first === undefined) return { first: wanted, changed: [], update: undefined, mark: wanted && marked(wanted) };
  const changed = later.flatMap(({ message, effort }) => (effort === undefined ? [] : [[message, effort] as const]));
  const named = wanted ?? DEFAULT_EFFORT;
  const last = changed.at(-1)?.[1] ?? first.effort ?? DEFAULT_EFFORT;
  const update = last === named ? undefined : named;
  return { first: first.effort, changed, update, mark: update && marked(update) };
}

function thoughtFor(context: MessagesPrint, request: ModelRequest, takes: Takes): Thinking {
  const { model, options = {} } = context;
  const known = modelFacts(model);
  const maxTokens = options.maxTokens ?? known.maxTokens;
  const bound = known.binding && takes('block_binding');
  const { thinking, effort } = takes('thinking')
    ? thinkingFor(known, request.effort ?? options.reasoningEffort, { maxTokens, bound })
    : {};
  // With a budget, calls must follow the thinking that led to them, which another API's calls do not have.
  const isBare = known.isClaude && thinking?.type === 'enabled' && !lastCallsFollowThinking(request, context);
  return {
    ...(thinking !== undefined && !isBare && { thinking }),
    ...(effort !== undefined && !isBare && takes('reasoning_effort') && { effort }),
  };
}

interface Chosen {
  readonly takes: Takes;
  readonly references: ReadonlySet<string>;
  readonly thinking: Thinking['thinking'] | undefined;
  readonly effort: ClaudeEffort | undefined;
}

function parameters(
  context: MessagesPrint,
  request: ModelRequest,
  { takes, references, thinking, effort }: Chosen,
): { readonly rest: Omit<MessageCreateParamsStreaming, 'messages'>; readonly betas: readonly string[] } {
  const { model, options = {}, facts, baseUrl } = context;
  const known = modelFacts(model);
  const maxTokens = options.maxTokens ?? known.maxTokens;
  const isBound = thinking?.type === 'adaptive' && thinking.block_binding !== undefined;
  const cached = takes('cache_control') ? EPHEMERAL : undefined;
  const tools = toTools(request, references, {
    cached: /\bfireworks\.ai$/.test(new URL(baseUrl).hostname) ? undefined : cached,
    eager: known.isClaude && takes('eager_input_streaming'),
  });
  const previous = takes('diagnostics') ? previousAnswer(request, context) : undefined;
  const thinks = thinking !== undefined && thinking.type !== 'disabled';
  return {
    rest: {
      model,
      max_tokens: maxTokens,
      stream: true,
      ...(request.system !== '' && { system: [{ type: 'text', text: request.system, ...cached }] }),
      ...(tools.length > 0 && { tools }),
      ...defined({ thinking }),
      ...(effort !== undefined && { output_config: { effort } }),
      ...(previous !== undefined && { diagnostics: { previous_message_id: previous } }),
      ...(options.temperature !== undefined &&
        known.temperature &&
        !thinks &&
        !facts.without.includes('temperature') && { temperature: options.temperature }),
    },
    betas: [
      ...(isBound ? [BINDING_BETA] : []),
      ...(known.isClaude && thinking?.type === 'enabled' && tools.length > 0 ? [INTERLEAVED_BETA] : []),
    ],
  };
}

/** The answer before, with whose request Anthropic compares this one if its cache has less of it. */
function previousAnswer({ messages }: ModelRequest, { baseUrl, model }: MessagesPrint): string | undefined {
  if (!isAnthropic(baseUrl)) return undefined;
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.role === 'assistant' && last.origin?.provider === providerOf(baseUrl) && last.origin.model === model
    ? messageIdOf(last)
    : undefined;
}

function lastCallsFollowThinking({ messages }: ModelRequest, { baseUrl, refused }: MessagesPrint): boolean {
  const last = messages.findLast((message) => message.role !== 'tool');
  if (last?.role !== 'assistant' || last.calls.length === 0) return true;
  const { origin } = last;
  return origin?.api === 'messages' && origin.provider === providerOf(baseUrl) && !refused.has(last);
}

/** Referenced tools come last and are deferred: the endpoint reads them where a result refers to them. */
function toTools(
  { tools, found = [] }: ModelRequest,
  references: ReadonlySet<string>,
  { cached, eager }: { readonly cached: typeof EPHEMERAL | undefined; readonly eager: boolean },
): BetaTool[] {
  const toTool = ({ name, description, parameters: schema }: ToolDescription): BetaTool => ({
    name,
    description,
    input_schema: { ...schema, type: 'object' },
    ...(eager && { eager_input_streaming: true }),
  });
  const offered = [...tools, ...found.filter(({ name }) => !references.has(name))].map(toTool);
  const deferred = found.filter(({ name }) => references.has(name)).map(toTool);
  return [
    ...offered.map((tool, index) => (index === offered.length - 1 ? { ...tool, ...cached } : tool)),
    ...deferred.map((tool) => ({ ...tool, defer_loading: true })),
  ];
}
