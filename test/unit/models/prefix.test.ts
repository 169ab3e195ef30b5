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
    ...cycles.flatMap((cycle): ModelMessage[] => {
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
          ...(cycle.known && { origin: originOf(api, calls, cycle.added) }),
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

/** Where a request is sent: after a message of the user, or after all results of a batch. */
function requestsOf(messages: readonly ModelMessage[]): ModelRequest[] {
  return messages.flatMap((message, index) => {
    const isEnd = message.role !== 'assistant' && messages[index + 1]?.role === 'assistant';
    return isEnd
      ? [
          {
            conversation: 'c',
            system: 'You are.',
            messages: messages.slice(0, index + 1),
            tools: [],
            effort: 'low' as const,
          },
        ]
      : [];
  });
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
        const requests = requestsOf(messages);
        for (const request of requests) {
          const body = await print(request, { printer });
          expect(body).toEqual(await print(request));
          sent.push(body);
        }
        // A text that was added to get an answer is known once there is that answer: the request before was sent without it.
        if (api === 'messages' && JSON.stringify(messages).includes('user_text')) return;
        const asRequests = sent.map((body) => ({ path: '', headers: {}, body }));
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
