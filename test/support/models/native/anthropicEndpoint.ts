// A Messages endpoint that refuses what Anthropic refuses, also the thinking whose prefix has changed.
import { createHash } from 'node:crypto';
import { type ClaudeRules, claudeRules } from './claudeRules.ts';
import { type ContentBlock, type MessagesAnswer, messagesEvents } from './messagesEvents.ts';
import { type Body, type NativeEndpoint, startNativeEndpoint } from './nativeEndpoint.ts';
import { toSse } from './responsesEvents.ts';

interface LooseBlock extends ContentBlock {
  readonly content?: string | readonly LooseBlock[];
}

interface LooseMessage {
  readonly role: string;
  readonly content?: string | readonly LooseBlock[];
  readonly output_config?: { readonly effort?: string };
}

export interface AnthropicRules {
  /** A compatible server: the key as a bearer token, and nothing that only Anthropic knows. */
  readonly compatible?: boolean;
  /** Refuses system messages although the model should take them. */
  readonly noSystem?: boolean;
  /** Refuses an effort in a message. */
  readonly noMessageEffort?: boolean;
  /** Takes calls without thinking before them, as a summary or another model leaves them. */
  readonly withoutThinking?: boolean;
}

/** `answer` gets the number of the request; thinking is signed here. */
export async function startAnthropic(
  answer: (number: number, body: Body) => MessagesAnswer,
  rules: AnthropicRules = {},
): Promise<NativeEndpoint> {
  let number = 0;
  /** Answers that paused: only these may be the last message. */
  const paused = new Set<string>();
  return startNativeEndpoint({
    title: toSse(messagesEvents({ content: [{ type: 'text', text: 'A title' }] })),
    reply: ({ path, headers, body }) => {
      const refuse = (message: string, status = 400, type = 'invalid_request_error') => ({
        status,
        body: { type: 'error', error: { type, message }, request_id: 'req_1' },
      });
      if (path !== (rules.compatible === true ? '/anthropic/v1/messages' : '/v1/messages'))
        return refuse(`no such path: ${path}`, 404, 'not_found_error');
      const key = rules.compatible === true ? headers.authorization : headers['x-api-key'];
      if (key !== (rules.compatible === true ? 'Bearer k' : 'k'))
        return refuse('invalid x-api-key', 401, 'authentication_error');
      if (headers['anthropic-version'] !== '2023-06-01') return refuse('anthropic-version: header is required');
      const betas = String(headers['anthropic-beta'] ?? '')
        .split(',')
        .filter((beta) => beta !== '');
      const fault = findFault(body, { rules, betas, paused });
      if (fault !== undefined) return refuse(fault);
      const given = answer(number++, body);
      const content = sign(given.content ?? [], body);
      if (given.stop === 'pause_turn') paused.add(JSON.stringify(content));
      return { sse: toSse(messagesEvents({ ...given, content })) };
    },
  });
}

function sign(content: readonly ContentBlock[], body: Body): ContentBlock[] {
  const messages = body['messages'] as readonly LooseMessage[];
  const before = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  return content.map((block) =>
    block.type === 'thinking' ? { ...block, signature: signatureOf(String(block['thinking']), body, before) } : block,
  );
}

/** Bound to the system prompt, the tools that are not deferred, and all earlier messages. */
function signatureOf(thinking: string, body: Body, before: readonly LooseMessage[]): string {
  const isBound = claudeRules(String(body['model']))?.binding === true;
  const tools = ((body['tools'] ?? []) as readonly LooseBlock[]).filter((tool) => tool['defer_loading'] !== true);
  const prefix = isBound ? JSON.stringify([body['system'], tools, before], withoutMarks) : '';
  return createHash('sha256').update(`${thinking} ${prefix}`).digest('hex');
}

function withoutMarks(name: string, value: unknown): unknown {
  return name === 'cache_control' ? undefined : value;
}

function findFault(
  body: Body,
  { rules, betas, paused }: { rules: AnthropicRules; betas: readonly string[]; paused: ReadonlySet<string> },
): string | undefined {
  const model = String(body['model']);
  const messages = body['messages'] as readonly LooseMessage[];
  const claude = claudeRules(model);
  const limit = body['max_tokens'];
  if (typeof limit !== 'number') return 'max_tokens: Field required';
  const { previous_message_id: previous } = (body['diagnostics'] ?? {}) as { previous_message_id?: unknown };
  if (body['diagnostics'] !== undefined && (rules.compatible === true || typeof previous !== 'string'))
    return 'diagnostics: Extra inputs are not permitted';
  const thinking = (body['thinking'] ?? {}) as { type?: string; budget_tokens?: number; block_binding?: object };
  const wrongThinking = findThinkingFault(thinking, limit, claude);
  if (wrongThinking !== undefined) return wrongThinking;
  if (thinking.block_binding !== undefined && !betas.includes('thinking-binding-controls-2026-08-01'))
    return 'thinking.block_binding: Extra inputs are not permitted';
  if (rules.compatible === true && betas.length > 0) return `anthropic-beta: unknown beta ${betas.join(', ')}`;
  if (body['temperature'] !== undefined && claude?.temperature === false)
    return '`temperature` is deprecated for this model';
  const { effort } = (body['output_config'] ?? {}) as { effort?: string };
  if (claude !== undefined && effort !== undefined && !claude.efforts.includes(effort))
    return `output_config.effort: ${effort} is not supported on this model`;
  if (model === 'claude-opus-5' && thinking.type === 'disabled' && (effort === 'xhigh' || effort === 'max'))
    return `thinking.type: disabled is not supported with effort ${effort}`;
  const { type: choice } = (body['tool_choice'] ?? {}) as { type?: string };
  if (claude?.forcedCalls === false && (choice === 'any' || choice === 'tool'))
    return `tool_choice: ${choice} is not supported on this model`;
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`;
  const tools = (body['tools'] ?? []) as readonly LooseBlock[];
  const marked = tools.find((tool) => tool['defer_loading'] === true && tool['cache_control'] !== undefined);
  if (marked !== undefined) return 'Tools with defer_loading cannot have cache_control';
  if (tools.length > 0 && tools.every((tool) => tool['defer_loading'] === true))
    return 'At least one tool must have defer_loading=false';
  const [first, last] = [messages[0], messages.at(-1)];
  if (first?.role !== 'user') return 'messages.0: the first message must use the user role';
  if (last?.role === 'assistant' && !paused.has(JSON.stringify(last.content))) {
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
  const efforts = messages.findIndex((message) => message.output_config !== undefined);
  if (efforts !== -1) {
    const at = `messages.${efforts}.output_config: `;
    if (!betas.includes('mid-conversation-output-config-2026-07-01') || rules.noMessageEffort === true)
      return `${at}Extra inputs are not permitted`;
    if (claude?.messageEffort !== true) return `${at}is not supported on this model`;
    if (thinking.type !== 'adaptive') return `${at}effort cannot change between messages while thinking is disabled`;
    if (messages.some((message) => message.role !== 'system' && message.output_config !== undefined))
      return `${at}only allowed in system messages`;
  }
  for (const [index, message] of messages.entries()) {
    const fault = findMessageFault(messages, index, message, { rules, claude, tools, body });
    if (fault !== undefined) return `messages.${index}: ${fault}`;
  }
  return undefined;
}

function findThinkingFault(
  { type, budget_tokens: budget }: { type?: string; budget_tokens?: number },
  limit: number,
  claude: ClaudeRules | undefined,
): string | undefined {
  if (type === 'enabled' && (budget === undefined || budget < 1024 || budget >= limit))
    return 'thinking.budget_tokens: must be at least 1024 and less than max_tokens';
  // Servers of others know no adaptive thinking.
  const accepted = claude?.thinking ?? ['enabled', 'disabled'];
  return type !== undefined && !accepted.includes(type)
    ? `thinking.type: ${type} is not supported on this model`
    : undefined;
}

function findMessageFault(
  messages: readonly LooseMessage[],
  index: number,
  { role, content = [], output_config: config }: LooseMessage,
  {
    rules,
    claude,
    tools,
    body,
  }: { rules: AnthropicRules; claude: ClaudeRules | undefined; tools: readonly LooseBlock[]; body: Body },
): string | undefined {
  const blocks: readonly LooseBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (
    blocks.some(({ type, text }: LooseBlock) => type === 'text' && (typeof text !== 'string' || text.trim() === ''))
  ) {
    return 'text content blocks must be non-empty';
  }
  const before = messages[index - 1];
  if (role === 'system') {
    if (claude?.systemMessages !== true || rules.noSystem === true)
      return "role 'system' is not supported on this model";
    const next = messages[index + 1]?.role ?? 'assistant';
    if (blocks.length === 0 && config === undefined) return 'a system message needs content or output_config';
    if (before?.role !== 'user' || next !== 'assistant')
      return 'a system message must follow a user message and be last or followed by an assistant message';
    return undefined;
  }
  if (role === 'assistant') return findAnswerFault(blocks, messages.slice(0, index), { claude, body, rules });
  const asked = before?.role === 'assistant' ? usesIn(before) : [];
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const leading = blocks.slice(0, results.length);
  const missing = asked.filter((id) => !leading.some((block) => block['tool_use_id'] === id));
  if (missing.length > 0)
    return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`;
  const orphan = results.find((result) => !asked.includes(String(result['tool_use_id'])));
  if (orphan !== undefined)
    return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(orphan['tool_use_id'])}`;
  for (const result of results) {
    const parts = Array.isArray(result.content) ? (result.content as readonly LooseBlock[]) : [];
    if (result['is_error'] === true && parts.some(({ type }) => type !== 'text'))
      return 'all content must be type "text" if `is_error` is true';
    const unknown = parts.find(
      (part) => part.type === 'tool_reference' && !tools.some((tool) => tool['name'] === part['tool_name']),
    );
    if (unknown !== undefined) return `tool_reference to an unknown tool: ${String(unknown['tool_name'])}`;
  }
  return undefined;
}

function usesIn({ content = [] }: LooseMessage): string[] {
  return typeof content === 'string'
    ? []
    : content.filter(({ type }) => type === 'tool_use').map(({ id }: LooseBlock) => String(id));
}

function findAnswerFault(
  blocks: readonly LooseBlock[],
  before: readonly LooseMessage[],
  { claude, body, rules }: { claude: ClaudeRules | undefined; body: Body; rules: AnthropicRules },
): string | undefined {
  const ids = blocks.filter(({ type }) => type === 'tool_use').map(({ id }: LooseBlock) => String(id));
  if (ids.some((id) => !/^[a-zA-Z0-9_-]{1,64}$/.test(id))) return 'tool_use.id: String should match pattern';
  // The scripted models think before each call.
  const mustThink = claude !== undefined && rules.withoutThinking !== true;
  if (mustThink && ids.length > 0 && blocks[0]?.type !== 'thinking')
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`';
  for (const block of blocks) {
    if (block.type !== 'thinking') continue;
    const signature = block['signature'];
    if (claude !== undefined && (typeof signature !== 'string' || signature === ''))
      return 'thinking.signature: Field required';
    if (signature === signatureOf(String(block['thinking']), body, before)) continue;
    return 'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';
  }
  return undefined;
}

export function thinkingBlock(text: string): ContentBlock {
  return { type: 'thinking', thinking: text, signature: '' };
}

export function textContent(text: string): ContentBlock {
  return { type: 'text', text };
}

export function useBlock(id: string, name: string, input: object): ContentBlock {
  return { type: 'tool_use', id, name, input };
}
