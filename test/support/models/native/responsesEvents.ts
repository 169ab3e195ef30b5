// The stream of a Responses endpoint that produces given output items.

export interface OutputItem {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface ResponsesAnswer {
  readonly items?: readonly OutputItem[];
  /** The deltas of all items in turns, as parallel items are streamed. */
  readonly interleaved?: boolean;
  readonly incomplete?: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage?: object;
}

const RESPONSES_USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 110,
};

type Event = Readonly<Record<string, unknown>>;

export function responsesEvents({ items = [], interleaved, incomplete, error, usage }: ResponsesAnswer): Event[] {
  const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', parallel_tool_calls: true, tools: [] };
  const response = (more: object) => ({ ...head, output: [], ...more });
  const streams = items.map((item, index) => itemEvents(item, index));
  const longest = Math.max(0, ...streams.map(({ length }) => length));
  const turns = Array.from({ length: longest }, (_, turn) => turn);
  const inTurns = turns.flatMap((turn) => streams.map((events) => events[turn]).filter((event) => event !== undefined));
  const status = error !== undefined ? 'failed' : incomplete !== undefined ? 'incomplete' : 'completed';
  const last = response({
    status,
    output: items,
    usage: usage ?? RESPONSES_USAGE,
    error: error ?? null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
  });
  const events: Event[] = [
    { type: 'response.created', response: response({ status: 'in_progress' }) },
    { type: 'response.in_progress', response: response({ status: 'in_progress' }) },
    ...(interleaved === true ? inTurns : streams.flat()),
    { type: `response.${status}`, response: last },
  ];
  return events.map((event, number) => ({ ...event, sequence_number: number }));
}

function itemEvents(item: OutputItem, index: number): Event[] {
  const at = { output_index: index, item_id: item['id'] };
  const done = { type: 'response.output_item.done', output_index: index, item };
  const added = (begun: object) => ({ type: 'response.output_item.added', output_index: index, item: begun });
  switch (item.type) {
    case 'message': {
      const parts = item['content'] as readonly { type: string; text?: string; refusal?: string }[];
      return [
        added({ ...item, content: [], status: 'in_progress' }),
        ...parts.flatMap((part, content_index) => {
          const field = part.type === 'refusal' ? 'refusal' : 'text';
          const kind = part.type === 'refusal' ? 'response.refusal' : 'response.output_text';
          const empty = { ...part, [field]: '' };
          return [
            { type: 'response.content_part.added', ...at, content_index, part: empty },
            ...halves(part[field] ?? '').map((delta) => ({
              type: `${kind}.delta`,
              ...at,
              content_index,
              delta,
              logprobs: [],
            })),
            { type: `${kind}.done`, ...at, content_index, [field]: part[field] },
            { type: 'response.content_part.done', ...at, content_index, part },
          ];
        }),
        done,
      ];
    }
    case 'reasoning': {
      const summary = item['summary'] as readonly { text: string }[];
      return [
        added({ ...item, summary: [], encrypted_content: '', status: 'in_progress' }),
        ...summary.flatMap((part, summary_index) => [
          { type: 'response.reasoning_summary_part.added', ...at, summary_index, part: { ...part, text: '' } },
          ...halves(part.text).map((delta) => ({
            type: 'response.reasoning_summary_text.delta',
            ...at,
            summary_index,
            delta,
          })),
          { type: 'response.reasoning_summary_text.done', ...at, summary_index, text: part.text },
          { type: 'response.reasoning_summary_part.done', ...at, summary_index, part },
        ]),
        done,
      ];
    }
    case 'function_call':
      return [
        added({ ...item, arguments: '', status: 'in_progress' }),
        ...halves(item['arguments'] as string).map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...at,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...at, name: item['name'], arguments: item['arguments'] },
        done,
      ];
    default:
      return [added(item), done];
  }
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

export function toSse(events: readonly Event[]): string {
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
