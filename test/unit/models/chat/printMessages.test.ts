// Printing a growing conversation gives the same JSON as printing each of its requests alone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Block, type ImageReference, type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ChatForm, chatForm, printMessages, toWireMessages } from '../../../../src/models/chat/chatModel.ts';
import { PrefixPrinter } from '../../../../src/models/wire/prefixPrinter.ts';
import { CAREFUL } from '../../../../src/models/profile.ts';

const elsewhere = 'https://elsewhere.example/v1';
const FORMS: readonly ChatForm[] = [
  chatForm('https://api.openai.com/v1', 'gpt-5.5'),
  chatForm('https://api.mistral.ai/v1', 'devstral'),
  chatForm('https://api.deepseek.com/v1', 'deepseek-v4-pro'),
  chatForm('https://api.moonshot.ai/v1', 'kimi-k3'),
  chatForm(elsewhere, 'm', { ...CAREFUL, alternation: 'free' }),
  chatForm(elsewhere, 'm', CAREFUL),
];

const words = fc.oneof(fc.constantFrom('', 'words', 'a, "b"', '\ud800 é 漢'), fc.string());
const block: fc.Arbitrary<Block> = fc.record({
  format: fc.constantFrom('xml', 'markdown', 'developer', 'synthetic-tool'),
  text: fc.constant('<notification/>'),
  id: fc.constant('e1'),
});
const blocks = fc.option(block, { nil: undefined, freq: 2 });
const images = fc.option(fc.constant([{ hash: 'h', mediaType: 'image/png', name: 'a.png' }]), {
  nil: undefined,
  freq: 12,
});

const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc
    .record({ content: words, block: blocks, images })
    .map(({ content, ...more }): ModelMessage => ({ role: 'user', content, ...defined(more) })),
  fc.record({ content: words, calls: fc.integer({ min: 0, max: 2 }) }).map(
    ({ content, calls }): ModelMessage => ({
      role: 'assistant',
      content,
      calls: Array.from({ length: calls }, (_, index) => ({ id: `c${index}`, name: 'look', arguments: '{"at":1}' })),
    }),
  ),
  fc.record({ content: words, block: blocks, images, finds: fc.boolean() }).map(
    ({ content, finds, ...more }): ModelMessage => ({
      ...{ role: 'tool', call: 'c0', content, ...defined(more) },
      // One that is described, and one whose description is lost.
      ...(finds && { found: ['late', 'lost'] }),
    }),
  ),
);
const found = [{ name: 'late', description: 'Comes later.', parameters: { type: 'object' } }];

interface Optional {
  readonly block?: Block;
  readonly images?: readonly ImageReference[];
}

function defined({ block, images }: { [K in keyof Optional]: Optional[K] | undefined }): Optional {
  return { ...(block && { block }), ...(images && { images }) };
}

function print(printer: PrefixPrinter, messages: readonly ModelMessage[], form: ChatForm): unknown {
  const text = Buffer.concat(
    printMessages(printer, { system: 'You are.', messages, tools: [], found }, form, new Map()),
  ).toString();
  expect(text.at(-1)).toBe(',');
  return JSON.parse(`[${text.slice(0, -1)}]`);
}

/** The messages as the endpoint reads them. */
function printAlone(messages: readonly ModelMessage[], form: ChatForm): unknown {
  return JSON.parse(
    JSON.stringify(toWireMessages({ system: 'You are.', messages, tools: [], found }, form, new Map())),
  );
}

test('the requests of a growing conversation are the same as printed alone, in every form', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.constantFrom(...FORMS), (messages, form) => {
      const printer = new PrefixPrinter();
      for (let count = 0; count <= messages.length; count += 1) {
        const sent = messages.slice(0, count);
        expect(print(printer, sent, form)).toEqual(printAlone(sent, form));
      }
    }),
  );
});

test('messages around an answer without text and calls are printed as if it were not there', () => {
  const empty: ModelMessage = { role: 'assistant', content: '', calls: [] };
  const calling: ModelMessage = {
    role: 'assistant',
    content: '',
    calls: [{ id: 'c0', name: 'look', arguments: '{}' }],
  };
  const messages: readonly ModelMessage[] = [
    { role: 'user', content: 'Look.' },
    calling,
    { role: 'tool', call: 'c0', content: 'seen' },
    empty,
    { role: 'user', content: 'And now?' },
  ];
  for (const form of FORMS) expect(print(new PrefixPrinter(), messages, form)).toEqual(printAlone(messages, form));
});

test('conversations, forms and compactions that alternate do not mix', () => {
  const step = fc.record({
    conversation: fc.integer({ min: 0, max: 5 }),
    form: fc.constantFrom(...FORMS),
    more: message,
    compacted: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const printer = new PrefixPrinter();
      const conversations = new Map<number, ModelMessage[]>();
      for (const { conversation, form, more, compacted } of steps) {
        const before = conversations.get(conversation) ?? [];
        const messages = [...(compacted ? [{ ...more }, ...before.slice(2)] : before), more];
        conversations.set(conversation, messages);
        expect(print(printer, messages, form)).toEqual(printAlone(messages, form));
      }
    }),
  );
});

test('messages that were printed before are not printed again', () => {
  const printer = new PrefixPrinter();
  let read = 0;
  const counted = (call: string): ModelMessage => ({
    role: 'tool',
    call,
    get content() {
      read += 1;
      return 'result';
    },
  });
  const cycle = (call: string): ModelMessage[] => [
    { role: 'assistant', content: '', calls: [{ id: call, name: 'look', arguments: '{}' }] },
    counted(call),
  ];
  const messages = Array.from({ length: 50 }, (_, index) => cycle(`c${index}`)).flat();
  const form = chatForm(elsewhere, 'm');
  print(printer, messages, form);
  read = 0;
  print(printer, [...messages, ...cycle('next')], form);
  // Only the last two cycles are read: the previously last one, and the new one.
  expect(read).toBe(2);
});
