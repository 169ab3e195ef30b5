// Chat endpoints with the rules of their vendors: each refuses exactly what its documentation says it refuses.
import { isDeepStrictEqual } from 'node:util';
import { type Refusal, type ScriptedAnswer } from './scriptedServer.ts';

interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly extra_content?: { readonly google?: { readonly thought_signature?: string } };
  }[];
  readonly reasoning?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning_details?: unknown;
}

type Call = NonNullable<ScriptedAnswer['calls']>[number];

export interface Vendor {
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string;
  /** The answer of a cycle as this vendor streams it. */
  answer(cycle: number, calls: readonly Call[]): ScriptedAnswer;
  /** The first broken rule. `foreign`: how many of the first answers with calls came from another provider. */
  refuse(messages: readonly Message[], foreign?: number): Refusal | undefined;
  /** What it refuses in the schema of a tool; undefined: nothing. */
  refuseSchema?(schema: Schema): string | undefined;
}

type Schema = Readonly<Record<string, unknown>>;

interface WireTool {
  readonly function: { readonly name: string; readonly parameters: Schema };
}

/** The first broken rule of a whole request, also about its tools and the tools in its messages. */
export function refuseRequest(vendor: Vendor, body: Schema, foreign?: number): Refusal | undefined {
  const messages = body['messages'] as readonly (Message & { readonly tools?: readonly WireTool[] })[];
  const [listed, later] = [(body['tools'] ?? []) as readonly WireTool[], messages.flatMap(({ tools = [] }) => tools)];
  const names = [...listed, ...later].map((tool) => tool.function.name);
  if (later.length > 0 && vendor !== kimi) return bad('messages: Unknown field tools');
  if (new Set(names).size < names.length) return bad('tools: names must be unique');
  for (const tool of [...listed, ...later]) {
    const fault = vendor.refuseSchema?.(tool.function.parameters);
    if (fault !== undefined) return bad(`${tool.function.name}: ${fault}`);
  }
  return vendor.refuse(messages, foreign);
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schemas directly inside of another. */
function innerSchemas(schema: Schema): Schema[] {
  const { properties, items, anyOf } = schema;
  return [...Object.values(isSchema(properties) ? properties : {}), items, ...[anyOf].flat()].filter(isSchema);
}

const GEMINI_SCHEMA = new Set(
  'type description enum items properties required minItems maxItems minimum maximum minLength maxLength anyOf'.split(
    ' ',
  ),
);

/** Gemini's subset, with the errors that its API answers. */
function geminiSchemaFault(schema: Schema): string | undefined {
  const { type, enum: values, items, properties, required, anyOf } = schema;
  const unknown = Object.keys(schema).find((name) => !GEMINI_SCHEMA.has(name));
  if (unknown !== undefined) return `Unknown name "${unknown}": Cannot find field.`;
  if (anyOf !== undefined && Object.keys(schema).length > 1) return 'any_of: when set, it must be the only field';
  if (anyOf === undefined && typeof type !== 'string') return 'type: must be specified';
  if (values !== undefined && type !== 'string') return 'enum: only allowed for STRING type';
  if (Array.isArray(values) && !values.every((value) => typeof value === 'string' && value !== ''))
    return 'enum: Invalid value (TYPE_STRING)';
  if ((properties !== undefined || required !== undefined) && type !== 'object')
    return 'properties: only allowed for OBJECT type';
  if (
    Array.isArray(required) &&
    !required.every((name) => isSchema(properties) && Object.hasOwn(properties, String(name)))
  )
    return 'required: property is not defined';
  if (type === 'array' && !isSchema(items)) return 'items: missing field';
  return innerSchemas(schema)
    .map(geminiSchemaFault)
    .find((fault) => fault !== undefined);
}

/** Moonshot's subset. */
function kimiSchemaFault(schema: Schema): string | undefined {
  const fault = 'tools.function.parameters is not a valid moonshot flavored json schema, details: ';
  if ('$ref' in schema) return `${fault}when using $ref, type should be defined in the referenced schema`;
  if (Array.isArray(schema['items']) || 'prefixItems' in schema) return `${fault}items must be a schema`;
  if ('oneOf' in schema) return `${fault}oneOf is not supported`;
  if ('anyOf' in schema && 'type' in schema)
    return `${fault}when using anyOf, type should be defined in anyOf items instead of the parent schema`;
  return innerSchemas(schema)
    .map(kimiSchemaFault)
    .find((inner) => inner !== undefined);
}

const bad = (message: string, status = 400): Refusal => ({ status, message });

/** The messages of the model that call tools, with their number among these. */
const calling = (messages: readonly Message[]) => messages.filter(({ tool_calls: calls }) => calls !== undefined);

const answers = (messages: readonly Message[]) => messages.filter(({ role }) => role === 'assistant');

function lateSystem(messages: readonly Message[]): Refusal | undefined {
  const late = messages.slice(1).some(({ role }) => role === 'system' || role === 'developer');
  return late ? bad('System message must be at the beginning.') : undefined;
}

const thought = (cycle: number) => `Thought ${cycle}: “a”.`;

/** Every assistant message needs `reasoning_content`, unchanged if there was any. */
const deepseek: Vendor = {
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com/v1',
  model: 'deepseek-v4-pro',
  answer: (cycle, calls) => ({ reasoning: [thought(cycle).slice(0, 5), thought(cycle).slice(5)], calls }),
  refuse: (messages, foreign = 0) => {
    const refused = bad('The `reasoning_content` in the thinking mode must be passed back to the API.');
    if (answers(messages).some(({ reasoning_content: text }) => typeof text !== 'string')) return refused;
    const changed = calling(messages).some(
      ({ reasoning_content: text }, index) => text !== (index < foreign ? '' : thought(index - foreign)),
    );
    if (changed) return refused;
    return messages.some(({ content }) => typeof content !== 'string')
      ? bad('content: invalid type: sequence, expected a string')
      : undefined;
  },
};

const kimi: Vendor = {
  ...deepseek,
  name: 'Kimi K3',
  baseUrl: 'https://api.moonshot.ai/v1',
  model: 'kimi-k3',
  refuse: (messages) => {
    const at = messages.findIndex(
      ({ tool_calls: calls, reasoning_content: text }) => calls !== undefined && typeof text !== 'string',
    );
    const missing = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`;
    return at === -1 ? undefined : bad(missing);
  },
  refuseSchema: kimiSchemaFault,
};

const signature = (cycle: number) => ({ google: { thought_signature: `signature-${cycle}` } });

/** The first call of every step needs its signature; there are no late system messages. */
const gemini: Vendor = {
  name: 'Gemini 3',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
  model: 'gemini-3-pro',
  answer: (cycle, calls) => ({
    calls: calls.map((call, index) => (index === 0 ? { ...call, extra: signature(cycle) } : call)),
  }),
  refuse: (messages, foreign = 0) => {
    const unsigned = calling(messages).some(({ tool_calls: calls = [] }, index) => {
      const [first, ...others] = calls.map((call) => call.extra_content?.google?.thought_signature);
      if (index < foreign) return first !== 'skip_thought_signature_validator';
      return first !== `signature-${index - foreign}` || others.some((other) => other !== undefined);
    });
    if (unsigned) return bad('Function call is missing a thought_signature in functionCall parts.');
    return lateSystem(messages);
  },
  refuseSchema: geminiSchemaFault,
};

/** Ids have nine letters or digits, a user's message never follows a result, and unknown fields are refused. */
const mistral: Vendor = {
  name: 'Mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  model: 'devstral-medium',
  answer: (_, calls) => ({
    deltas: [{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Thinking.' }] }] }],
    calls,
  }),
  refuse: (messages) => {
    const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
      ...calls.map((call) => call.id),
      ...(id === undefined ? [] : [id]),
    ]);
    const odd = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    if (odd !== undefined) return bad(`Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`);
    if (messages.some(({ role }, index) => role === 'user' && messages[index - 1]?.role === 'tool')) {
      return bad("Unexpected role 'user' after role 'tool'");
    }
    if (messages.some((message) => 'reasoning_content' in message)) return bad('Extra inputs are not permitted');
    return lateSystem(messages);
  },
};

const details = (cycle: number) => [
  { type: 'reasoning.text', text: thought(cycle), format: 'anthropic-claude-v1', index: 0, signature: `s${cycle}` },
  { type: 'reasoning.encrypted', data: `data-${cycle}`, id: `rs_${cycle}`, index: 1 },
];

/** `reasoning_details` come back as they were, and late system messages are lost behind it. */
const openRouter: Vendor = {
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  model: 'anthropic/claude-opus-5.5',
  answer: (cycle, calls) => ({
    deltas: [
      ...[thought(cycle).slice(0, 4), thought(cycle).slice(4)].map((text) => ({
        reasoning: text,
        reasoning_details: [{ type: 'reasoning.text', text, format: 'anthropic-claude-v1', index: 0 }],
      })),
      { reasoning_details: [{ type: 'reasoning.text', signature: `s${cycle}`, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: `data-${cycle}`, id: `rs_${cycle}`, index: 1 }] },
    ],
    calls,
  }),
  refuse: (messages, foreign = 0) => {
    const changed = calling(messages).some((message, index) => {
      const sent = index < foreign ? undefined : details(index - foreign);
      return !isDeepStrictEqual(message.reasoning_details, sent) || 'reasoning' in message;
    });
    return changed ? bad('Invalid `signature` in `thinking` block') : lateSystem(messages);
  },
};

/** A local server with a strict template: one call at a time, strict alternation, no null, errors as status 500. */
const template: Vendor = {
  name: 'a strict template',
  baseUrl: 'http://strict.example:8080/v1',
  model: 'llama-3.3',
  answer: (_, calls) => ({ calls }),
  refuse: (messages) => {
    if (messages.some(({ tool_calls: calls = [] }) => calls.length > 1)) {
      return bad('Jinja Exception: This model only supports single tool-calls at once!', 500);
    }
    const spoken = messages.slice(1);
    const turns = spoken.filter(({ role }) => role !== 'tool');
    const alternates = turns.every(({ role }, index) => role === 'assistant' || turns[index - 1]?.role !== 'user');
    const afterTool = spoken.some(({ role }, index) => role === 'user' && spoken[index - 1]?.role === 'tool');
    if (!alternates || afterTool) {
      return bad('Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...', 500);
    }
    return messages.some(({ content }) => typeof content !== 'string')
      ? bad('Jinja Exception: template: content must be a string', 500)
      : lateSystem(messages);
  },
};

export const VENDORS: readonly Vendor[] = [deepseek, kimi, gemini, mistral, openRouter, template];
