// Prints a request for the Messages API. Pure.
import { type BetaTool, type MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/beta/messages';
import { type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type ModelOptions } from '../../protocol/settings.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { isAnthropic, providerOf } from '../api.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { foundInMessages } from '../wire/foundTools.ts';
import { type ImageBytes } from '../wire/images.ts';
import { type PrefixPrinter, printBody, printElements } from '../wire/prefixPrinter.ts';
import { modelFacts, thinkingFor } from './claude.ts';
import { addedText, toMessages, withBreakpoints, withoutEmpty } from './messagesInput.ts';

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';
const INTERLEAVED_BETA = 'interleaved-thinking-2025-05-14';
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

/** `betas`: for the header of the same request. */
export function printMessages(
  context: MessagesPrint,
  request: ModelRequest,
  { blocks, added }: Continuation = { blocks: [], added: undefined },
): { readonly body: Buffer; readonly betas: readonly string[] } {
  const { facts, baseUrl, model, images } = context;
  const takes: Takes = (name) => !facts.without.includes(name);
  const known = modelFacts(model);
  const referable = known.toolReferences && takes('tool_reference') && request.tools.length > 0;
  const references = referable ? foundInMessages(request) : new Set<string>();
  const visible = withoutEmpty(request.messages);
  const messages = withAdded(visible, added);
  const input = {
    provider: providerOf(baseUrl),
    images: takes('image_url') ? images : undefined,
    systemMessages: known.systemMessages && takes('system_messages'),
    references,
    refused: context.refused,
    signed: isAnthropic(baseUrl),
  };
  const { rest, betas } = parameters(context, request, takes, references);
  const form = JSON.stringify([facts.without, context.refusals]);
  const mark = takes('cache_control') ? withBreakpoints : undefined;
  const elements = context.printer.print(messages, { form, cycles: 2 }, (from, to) => {
    const mapped = toMessages(messages, [from, Math.min(to, visible.length)], input);
    return to === messages.length && mark !== undefined ? mark(mapped) : mapped;
  });
  const paused = blocks.length === 0 ? [] : [{ role: 'assistant', content: blocks }];
  return { body: printBody(rest, 'messages', [...elements, printElements(paused)]), betas };
}

/** The added text belongs to the answer that it leads to, which does not exist yet. */
function withAdded(messages: readonly ModelMessage[], added: string | undefined): readonly ModelMessage[] {
  if (added === undefined) return messages;
  const origin = { api: 'messages' as const, provider: '', model: '', items: [addedText(added)] };
  return [...messages, { role: 'assistant', content: '', calls: [], origin }];
}

function parameters(
  context: MessagesPrint,
  request: ModelRequest,
  takes: Takes,
  references: ReadonlySet<string>,
): { readonly rest: Omit<MessageCreateParamsStreaming, 'messages'>; readonly betas: readonly string[] } {
  const { model, options = {}, facts, baseUrl } = context;
  const known = modelFacts(model);
  const maxTokens = options.maxTokens ?? known.maxTokens;
  const bound = known.binding && takes('block_binding');
  const wanted = takes('thinking')
    ? thinkingFor(known, request.effort ?? options.reasoningEffort, { maxTokens, bound })
    : {};
  // With a budget, calls must follow the thinking that led to them, which another API's calls do not have.
  const isBare = known.isClaude && wanted.thinking?.type === 'enabled' && !lastCallsFollowThinking(request, context);
  const { thinking, effort } = isBare ? {} : wanted;
  const cached = takes('cache_control') ? EPHEMERAL : undefined;
  const tools = toTools(request, references, {
    cached: /\bfireworks\.ai$/.test(new URL(baseUrl).hostname) ? undefined : cached,
    eager: known.isClaude && takes('eager_input_streaming'),
  });
  const thinks = thinking !== undefined && thinking.type !== 'disabled';
  return {
    rest: {
      model,
      max_tokens: maxTokens,
      stream: true,
      ...(request.system !== '' && { system: [{ type: 'text', text: request.system, ...cached }] }),
      ...(tools.length > 0 && { tools }),
      ...(tools.length > 0 && request.allowed === 'none' && { tool_choice: { type: 'none' } }),
      ...(thinking !== undefined && { thinking }),
      ...(effort !== undefined && takes('reasoning_effort') && { output_config: { effort } }),
      ...(options.temperature !== undefined &&
        known.temperature &&
        !thinks &&
        !facts.without.includes('temperature') && { temperature: options.temperature }),
    },
    betas: [
      ...(bound && thinking?.type === 'adaptive' ? [BINDING_BETA] : []),
      ...(known.isClaude && thinking?.type === 'enabled' && tools.length > 0 ? [INTERLEAVED_BETA] : []),
    ],
  };
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
