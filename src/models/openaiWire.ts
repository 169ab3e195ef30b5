// Decides how our messages look to an OpenAI-compatible endpoint, and what its stream says. Pure.
import { type ChatCompletionChunk, type ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type ModelMessage } from '../core/conversation/messages.ts';
import { type ModelPart, type ModelRequest } from '../core/ports.ts';
import { type Usage } from '../protocol/event.ts';

export function toWireMessages(request: ModelRequest): ChatCompletionMessageParam[] {
  return [{ role: 'system', content: request.system }, ...request.messages.map(toWireMessage)];
}

function toWireMessage(message: ModelMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'user':
      // The user's own words come last.
      return { role: 'user', content: joined(message.block?.text, message.content) };
    case 'tool':
      return { role: 'tool', tool_call_id: message.call, content: joined(message.content, message.block?.text) };
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: args },
      }));
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        ...(calls.length > 0 && { tool_calls: calls }),
      };
    }
  }
}

function joined(first: string | undefined, second: string | undefined): string {
  return [first, second].filter((part) => part !== undefined && part !== '').join('\n\n');
}

export function toWireTools(request: ModelRequest) {
  return request.tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...parameters } },
  }));
}

interface GrowingCall {
  id: string;
  name: string;
  arguments: string;
}

/**
 * Puts a stream together by what servers really send: tool-call indexes that are missing, all 0 or start at 1, several
 * calls in one delta, arguments that are an object already.
 */
export class StreamAccumulator {
  readonly #calls: GrowingCall[] = [];
  readonly #byIndex = new Map<number, GrowingCall>();
  #usage: Usage | undefined;
  #reason: string | undefined;

  /** What of this chunk can be shown at once. */
  take(chunk: ChatCompletionChunk): ModelPart[] {
    if (chunk.usage) this.#usage = toUsage(chunk.usage);
    // Some servers send chunks without choices, or with an empty list, around the usage.
    const choice = (chunk.choices as ChatCompletionChunk['choices'] | undefined)?.[0];
    if (choice === undefined) return [];
    if (choice.finish_reason) this.#reason = choice.finish_reason;
    const delta = (choice as { delta?: LooseDelta }).delta;
    for (const call of delta?.tool_calls ?? []) this.#grow(call);
    const reasoning = delta?.reasoning_content ?? delta?.reasoning ?? '';
    return [
      ...(typeof reasoning === 'string' && reasoning !== '' ? [{ type: 'reasoning' as const, text: reasoning }] : []),
      ...(delta?.content ? [{ type: 'text' as const, text: delta.content }] : []),
    ];
  }

  /** Whether the server said that it is done. */
  get isFinished(): boolean {
    return this.#reason !== undefined;
  }

  end(): ModelPart[] {
    return [
      ...this.#calls.map((call) => ({ type: 'tool_call' as const, ...call })),
      { type: 'finished' as const, ...(this.#usage !== undefined && { usage: this.#usage }) },
    ];
  }

  #grow(delta: LooseCall): void {
    const name = delta.function?.name ?? '';
    const text = argumentsText(delta.function?.arguments);
    const known = delta.index === undefined ? this.#calls.at(-1) : this.#byIndex.get(delta.index);
    // A new id, or a name after arguments have begun, starts another call whatever the index says.
    const another = known !== undefined && startsAnother(known, delta.id ?? '', name);
    if (known === undefined || another) {
      const call = { id: delta.id ?? '', name, arguments: text };
      this.#calls.push(call);
      if (delta.index !== undefined) this.#byIndex.set(delta.index, call);
      return;
    }
    if (known.id === '') known.id = delta.id ?? '';
    if (known.name === '') known.name = name;
    known.arguments += text;
  }
}

interface LooseCall {
  index?: number;
  id?: string;
  function?: { name?: string; arguments?: unknown };
}

interface LooseDelta {
  content?: string | null;
  reasoning_content?: unknown;
  reasoning?: unknown;
  tool_calls?: LooseCall[];
}

function startsAnother(known: GrowingCall, id: string, name: string): boolean {
  if (id !== '' && known.id !== '') return id !== known.id;
  return id === '' && name !== '' && known.name !== '' && known.arguments !== '';
}

function argumentsText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function toUsage(usage: NonNullable<ChatCompletionChunk['usage']>): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens;
  return {
    input_tokens: usage.prompt_tokens,
    output_tokens: usage.completion_tokens,
    ...(cached !== undefined && { cached_tokens: cached }),
  };
}
