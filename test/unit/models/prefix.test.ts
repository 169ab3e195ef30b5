// Printing a growing conversation for Responses and Messages: the same bytes as printing each request alone, and each
// request extends the one before.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ModelMessage } from '../../../src/core/ports/modelMessages.ts';
import { type ModelRequest } from '../../../src/core/ports/ports.ts';
import { PrefixPrinter } from '../../../src/models/wire/prefixPrinter.ts';
import { type Body, findChangedPrefix } from '../../support/models/native/nativeEndpoint.ts';
import { messagesBody, type PrintOptions, responsesBody } from '../../support/models/native/printedRequests.ts';

type Print = (request: ModelRequest, given?: PrintOptions) => Promise<Body>;

const OPENAI = 'https://api.openai.com';
const ANTHROPIC = 'https://api.anthropic.com';

const forms: readonly {
  readonly name: string;
  readonly list: string;
  readonly api: 'responses' | 'messages';
  readonly print: Print;
}[] = [
  {
    name: 'gpt-6-sol',
    list: 'input',
    api: 'responses',
    print: (request, given) => responsesBody('gpt-6-sol', request, given),
  },
  {
    name: 'grok-4.7',
    list: 'input',
    api: 'responses',
    print: (request, given) => responsesBody('grok-4.7', request, given),
  },
  ...['claude-opus-5-5', 'claude-sonnet-4-5', 'MiniMax-M3'].map((model) => ({
    name: model,
    list: 'messages',
    api: 'messages' as const,
    print: (request: ModelRequest, given?: PrintOptions) => messagesBody(model, request, given),
  })),
];

const words = fc.oneof(fc.constantFrom('', ' ', 'words', 'a, "b"', '\ud800 é 漢'), fc.string());
const block = fc.option(
  fc.record({
    format: fc.constantFrom('xml' as const, 'developer' as const, 'markdown' as const),
    text: fc.constant('<n/>'),
  }),
  { nil: undefined },
);
const queued = fc.option(fc.array(words, { minLength: 1, maxLength: 2 }), { nil: undefined });

/** One turn: a request, then cycles of an answer with calls and all its results, then an answer. */
const turn = fc.record({
  asked: fc.record({ content: words, block, queued }),
  cycles: fc.array(
    fc.record({
      text: words,
      calls: fc.integer({ min: 1, max: 3 }),
      block,
      queued,
      known: fc.boolean(),
      added: fc.boolean(),
    }),
    {
      maxLength: 4,
    },
  ),
  answer: words,
});

let ids = 0;

function messagesOf(
  turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[],
  api: 'responses' | 'messages',
): ModelMessage[] {
  return turns.flatMap(({ asked, cycles, answer }): ModelMessage[] => [
    {
      role: 'user',
      content: asked.content || 'x',
      ...(asked.block && { block: asked.block }),
      ...(asked.queued && { queued: asked.queued }),
    },
    ...cycles.flatMap((cycle, number): ModelMessage[] => {
      const calls = Array.from({ length: cycle.calls }, () => ({
        id: `call_${ids++}`,
        name: 'look',
        arguments: '{"at":1}',
      }));
      return [
        {
          role: 'assistant',
          content: cycle.text,
          calls,
          // A text is added only after results.
          ...(cycle.known && { origin: originOf(api, calls, cycle.added && (number > 0 || api === 'responses')) }),
        },
        ...calls.map(
          ({ id }, index): ModelMessage => ({
            role: 'tool',
            call: id,
            content: cycle.text,
            ...(index === calls.length - 1 && cycle.block && { block: cycle.block }),
            ...(index === calls.length - 1 && cycle.queued && { queued: cycle.queued }),
          }),
        ),
      ];
    }),
    { role: 'assistant', content: answer, calls: [] },
  ]);
}

function originOf(api: 'responses' | 'messages', calls: readonly { id: string }[], added: boolean) {
  const items =
    api === 'responses'
      ? [
          ...(added
            ? [{ type: 'configuration_update', reasoning: { effort: 'low' }, text: { format: { type: 'text' } } }]
            : []),
          { type: 'reasoning', summary: [], encrypted_content: 'e' },
          ...calls.map(({ id }) => ({ type: 'function_call', call_id: id, name: 'look', arguments: '{"at":1}' })),
        ]
      : [
          ...(added ? [{ type: 'user_text', text: 'Please continue.' }] : []),
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          ...calls.map(({ id }) => ({ type: 'tool_use', id, name: 'look', input: { at: 1 } })),
        ];
  return { api, provider: api === 'responses' ? OPENAI : ANTHROPIC, model: 'gpt-6-sol', items };
}

interface Sent {
  readonly request: ModelRequest;
  /** What the request has after its messages, to continue an answer. */
  readonly more?: PrintOptions['more'];
}

/**
 * Where a request is sent: after a message of the user, or after all results of a batch. An answer with an added text got
 * a request without and one with that text; an answer that paused after its thinking got one that ends with it.
 */
function requestsOf(messages: readonly ModelMessage[], api: 'responses' | 'messages'): Sent[] {
  return messages.flatMap((message, index): Sent[] => {
    const next = messages[index + 1];
    if (message.role === 'assistant' || next?.role !== 'assistant') return [];
    const request: ModelRequest = {
      conversation: 'c',
      system: 'You are.',
      messages: messages.slice(0, index + 1),
      tools: [],
      effort: 'low',
    };
    if (api === 'responses') return [{ request }];
    const items = (next.origin?.items ?? []) as readonly { type: string; text?: string }[];
    const added = items.find(({ type }) => type === 'user_text')?.text;
    const thinking = items.filter(({ type }) => type === 'thinking');
    return [
      { request },
      ...(added === undefined ? [] : [{ request, more: { blocks: [], added } }]),
      ...(thinking.length === 0 ? [] : [{ request, more: { blocks: thinking, added } }]),
    ];
  });
}

/** The messages of a body as single blocks: what continues an answer or a turn adds blocks to its last message. */
function blocksOf(body: Body): Body {
  const { messages, ...rest } = body as { messages: readonly { role: string; content?: string | readonly object[] }[] };
  const blocks = messages.flatMap(({ role, content = [], ...more }) =>
    typeof content === 'string' ? [{ role, content }] : [...content.map((block) => ({ role, ...block })), more],
  );
  return { ...rest, messages: blocks.filter((block) => Object.keys(block).length > 0) };
}

/** The body without marks of the cache, which move. */
function withoutMarks(body: Body): Body {
  const text = JSON.stringify(body, (name, value: unknown) => (name === 'cache_control' ? undefined : value));
  return JSON.parse(text) as Body;
}

/** The body without the last text of this content. */
function withoutLast(body: Body, text: string): Body {
  const { messages } = withoutMarks(body) as {
    messages: readonly { content?: string | readonly { text?: string }[] }[];
  };
  const isIt = (message: (typeof messages)[number]) =>
    Array.isArray(message.content) && message.content.some((block: { text?: string }) => block.text === text);
  const at = messages.findLastIndex(isIt);
  return {
    ...withoutMarks(body),
    messages: messages.map((message, index) =>
      index === at && Array.isArray(message.content)
        ? { ...message, content: message.content.filter((block: { text?: string }) => block.text !== text) }
        : message,
    ),
  };
}

test.each(forms)(
  '$name: kept bytes change nothing, and every request extends the one before',
  async ({ print, list, api }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 3 }), async (turns) => {
        const printer = new PrefixPrinter();
        const sent: Body[] = [];
        const messages = messagesOf(
          turns.map((one) => ({ ...one, answer: one.answer.trim() === '' ? 'Done.' : one.answer })),
          api,
        );
        for (const { request, more } of requestsOf(messages, api)) {
          const given = more && { more };
          const body = await print(request, { printer, ...given });
          expect(body).toEqual(await print(request, given));
          // A text that is added to get an answer at all follows results; what the request said after them comes later.
          const before = sent.at(-1);
          if (more?.added !== undefined && more.blocks.length === 0 && before !== undefined) {
            expect(withoutLast(body, 'Please continue.')).toEqual(withoutMarks(before));
            sent.pop();
          }
          sent.push(body);
        }
        const asRequests = sent.map((body) => ({
          path: '',
          headers: {},
          body: api === 'messages' ? blocksOf(body) : body,
        }));
        expect(findChangedPrefix(asRequests, list, ['cache_control', 'thinking'])).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  },
);

test('at most four breakpoints, on the ends of the last two messages of the user', async () => {
  const looked = (id: string): ModelMessage[] => [
    { role: 'assistant', content: '', calls: [{ id, name: 'look', arguments: '{}' }] },
    { role: 'tool', call: id, content: `Seen ${id}.` },
  ];
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hello.' },
    ...looked('a'),
    ...looked('b'),
    ...looked('c'),
  ];
  const tools = [{ name: 'look', description: 'Looks.', parameters: {} }];
  const request = { system: 'You are.', messages, tools };
  const body = (await messagesBody('claude-opus-5-5', request)) as { messages: { content: object[] }[] };
  const marked = body.messages.map(({ content }) => content.some((one) => 'cache_control' in one));
  expect(marked).toEqual([false, false, false, false, true, false, true]);
  expect(JSON.stringify(body).split('"cache_control"')).toHaveLength(5);
});
