// The stream of a Messages endpoint that produces given content blocks.
import { halves } from './responsesEvents.ts';

export interface ContentBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface MessagesAnswer {
  readonly content?: readonly ContentBlock[];
  /** By default `tool_use` if there are calls, else `end_turn`. */
  readonly stop?: string;
  readonly details?: object;
  readonly transformations?: readonly object[];
  /** The JSON text of calls, if it is not that of their input. */
  readonly json?: string;
  /** Sent instead of the end. */
  readonly error?: { readonly type: string; readonly message: string };
}

type Event = Readonly<Record<string, unknown>>;

export function messagesEvents({ content = [], stop, details, transformations, json, error }: MessagesAnswer): Event[] {
  const reason = stop ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn');
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
    output_tokens: 1,
    service_tier: 'standard',
  };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
    ...(transformations !== undefined && { input_transformations: transformations }),
  };
  return [
    { type: 'message_start', message },
    { type: 'ping' },
    ...content.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: begun(block) },
      ...deltas(block, json).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    ...(error !== undefined
      ? [{ type: 'error', error }]
      : [
          {
            type: 'message_delta',
            delta: { stop_reason: reason, stop_sequence: null, stop_details: details ?? null },
            usage: { output_tokens: 7 },
          },
          { type: 'message_stop' },
        ]),
  ];
}

function begun(block: ContentBlock): object {
  switch (block.type) {
    case 'text':
      return { ...block, text: '' };
    case 'thinking':
      return { ...block, thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
    default:
      return block;
  }
}

function deltas(block: ContentBlock, json: string | undefined): object[] {
  switch (block.type) {
    case 'text':
      return halves(block['text'] as string).map((text) => ({ type: 'text_delta', text }));
    case 'thinking':
      return [
        ...halves(block['thinking'] as string).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block['signature'] },
      ];
    case 'tool_use': {
      const text = json ?? JSON.stringify(block['input']);
      return (text === '{}' ? [] : halves(text)).map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    }
    default:
      return [];
  }
}
