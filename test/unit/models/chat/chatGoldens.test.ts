// Chat requests of one conversation at each kind of endpoint, as readable files. Every request extends the one before it,
// except after the compaction.
import { expect, test } from 'vitest';
import { printBody } from '../../../../src/models/chat/chatModel.ts';
import { readImages } from '../../../../src/models/wire/images.ts';
import { PrefixPrinter } from '../../../../src/models/wire/prefixPrinter.ts';
import { CAREFUL, type EndpointProfile, shippedProfile } from '../../../../src/models/profile.ts';
import { type WireOrigin } from '../../../../src/protocol/event.ts';
import { refusedByDocument } from '../../../support/models/openaiDocument.ts';
import { refusals } from '../../../support/models/strictEndpoint.ts';
import { type SharedAnswer, sharedConversation } from '../../../support/models/sharedConversation.ts';

interface Endpoint {
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string;
  readonly format: 'xml' | 'developer';
  readonly profile?: EndpointProfile;
  /** What the endpoint returned besides text and calls. */
  readonly item: (answer: SharedAnswer, number: number) => object | undefined;
}

const none = () => undefined;
const content = ({ reasoning }: SharedAnswer) =>
  reasoning === undefined ? undefined : { reasoning_content: reasoning };

const ENDPOINTS: readonly Endpoint[] = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1', model: 'gpt-5.5', format: 'developer', item: none },
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com/v1',
    model: 'deepseek-v4-pro',
    format: 'developer',
    item: content,
  },
  {
    name: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    model: 'gemini-3-pro',
    format: 'xml',
    item: ({ calls }, number) =>
      calls.length === 0
        ? undefined
        : { calls: calls.map((_, at) => (at === 0 ? { google: { thought_signature: `signature ${number}` } } : null)) },
  },
  {
    name: 'openrouter-claude',
    baseUrl: 'https://openrouter.ai/api/v1',
    model: 'anthropic/claude-opus-5.5',
    format: 'xml',
    item: ({ reasoning }, number) =>
      reasoning === undefined
        ? undefined
        : { reasoning, reasoning_details: [{ type: 'reasoning.text', text: reasoning, signature: `s${number}` }] },
  },
  { name: 'mistral', baseUrl: 'https://api.mistral.ai/v1', model: 'devstral', format: 'xml', item: none },
  { name: 'unknown', baseUrl: 'https://elsewhere.example/v1', model: 'm', format: 'xml', item: content },
  {
    name: 'careful',
    baseUrl: 'https://elsewhere.example/v1',
    model: 'm',
    format: 'xml',
    profile: CAREFUL,
    item: content,
  },
];

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s', async (name, endpoint) => {
  const { baseUrl, model, format, item, profile = shippedProfile(baseUrl, model) } = endpoint;
  const originOf = (answer: SharedAnswer, number: number): WireOrigin | undefined => {
    const made = item(answer, number);
    return made && { api: 'chat', provider: new URL(baseUrl).origin, model, items: [made] };
  };
  const printer = new PrefixPrinter();
  const lines: string[] = [];
  let before: readonly Message[] = [];
  for (const { name: stage, request } of sharedConversation(originOf, format)) {
    const options = {
      baseUrl,
      model,
      apiKey: async () => undefined,
      options: { reasoningEffort: 'high', maxTokens: 9000 },
    } as const;
    const facts = { profile, without: [] };
    const body = printBody(options, request, facts, await readImages(request), printer).toString();
    const { messages, tools, ...rest } = JSON.parse(body) as { messages: Message[]; tools: unknown[] };
    if (name === 'openai')
      expect(refusedByDocument('CreateChatCompletionRequest', JSON.parse(body) as object)).toEqual([]);
    // Printed by a new printer, the request is the same.
    expect(printBody(options, request, facts, await readImages(request), new PrefixPrinter()).toString()).toBe(body);
    expect(refusals(messages, profile === CAREFUL)).toEqual([]);
    const same = messages.findIndex((message, at) => unmarked(message) !== unmarked(before[at]));
    if (stage !== 'compacted') expect(same).toBe(before.length);
    lines.push(
      `# ${stage}`,
      JSON.stringify({ ...rest, tools: tools.length }),
      ...(same === 0 ? [] : [`as before: ${same}`]),
    );
    lines.push(...messages.slice(same).flatMap(printMessage), '');
    before = messages;
  }
  await expect(lines.join('\n')).toMatchFileSnapshot(`./golden/${name}.golden.txt`);
});

/** Marks of the cache may move. */
function unmarked(message: Message | undefined): string | undefined {
  return message && JSON.stringify(message, (field, value: unknown) => (field === 'cache_control' ? undefined : value));
}

function printMessage({ role, content: said, ...rest }: Message): string[] {
  if (typeof said !== 'string') return [`${role} ${JSON.stringify({ content: said, ...rest })}`];
  const head = Object.keys(rest).length === 0 ? role : `${role} ${JSON.stringify(rest)}`;
  return [head, ...said.split('\n').map((line) => `  | ${line}`.trimEnd())];
}
