// Chat templates in the styles of local models, written for the tests: each refuses, drops or misprints something.

export interface TemplateStyle {
  readonly name: string;
  readonly template: string;
  /** How the server prepares messages: vLLM parses arguments and replaces null, LM Studio passes them as they are. */
  readonly preparation: 'vllm' | 'none';
}

/** The common loop; `before` runs for every message, `text` prints its content. */
function style(options: {
  readonly head?: string;
  readonly before?: string;
  readonly system?: string;
  readonly text?: string;
  readonly call?: string;
}): string {
  const {
    head = '',
    before = '',
    system = '<|system|>{{ message.content }}\n',
    text = '{{ message.content }}',
    call = '<tool_call>{{ call.function.name }} {{ call.function.arguments }}</tool_call>',
  } = options;
  return [
    '{{- bos_token }}',
    '{%- for tool in tools %}{{ tool.function.name }}: {{ tool.function.description }}\n{% endfor %}',
    head,
    '{%- for message in messages %}',
    before,
    `{%- if message.role == 'system' %}${system}`,
    `{%- elif message.role == 'user' %}<|user|>${text}\n`,
    `{%- elif message.role == 'assistant' %}<|assistant|>${text}`,
    `{%- for call in message.tool_calls or [] %}${call}{% endfor %}\n`,
    `{%- elif message.role == 'tool' %}<|tool|>${text}\n`,
    '{%- endif %}{% endfor %}<|assistant|>',
  ].join('');
}

const ALTERNATES = [
  "{%- set turns = namespace(last='assistant') %}",
  "{%- for message in messages %}{% if message.role != 'system' %}",
  "{%- if message.role == 'user' and turns.last != 'assistant' %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}",
  "{%- if message.role == 'assistant' and turns.last == 'assistant' %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}",
  '{%- set turns.last = message.role %}{% endif %}{% endfor %}',
].join('');

const LATE_SYSTEM =
  "{% if message.role == 'system' and not loop.first %}{{ raise_exception('System message must be at the beginning.') }}{% endif %}";
const USER_AFTER_TOOL =
  "{% if message.role == 'user' and not loop.first and messages[loop.index0 - 1].role == 'tool' %}{{ raise_exception(\"Unexpected role 'user' after role 'tool'\") }}{% endif %}";
const SINGLE_CALLS =
  "{% if message.tool_calls and message.tool_calls | length > 1 %}{{ raise_exception('This model only supports single tool-calls at once!') }}{% endif %}";
const TOOL_IDS =
  "{% for call in message.tool_calls or [] %}{% if call.id | length != 9 %}{{ raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}{% endif %}{% endfor %}";
const TYPED =
  "{%- for tool in tools %}{% for name, property in tool.function.parameters.properties | items %}{% if property.type is not string %}{{ raise_exception('Template: a property without a type') }}{% endif %}{{ name }}: {{ property.type | upper }}\n{% endfor %}{% endfor %}";
const KNOWN_ROLES =
  "{% if message.role not in ['system', 'user', 'assistant', 'tool'] %}{{ raise_exception('Unknown role: ' + message.role) }}{% endif %}";

export const TEMPLATE_STYLES: readonly TemplateStyle[] = [
  { name: 'plain', preparation: 'none', template: style({}) },
  { name: 'strict alternation', preparation: 'vllm', template: style({ head: ALTERNATES }) },
  { name: 'no system message after the first', preparation: 'vllm', template: style({ before: LATE_SYSTEM }) },
  {
    name: 'late system messages are dropped',
    preparation: 'none',
    template: style({ system: '{% if loop.first %}<|system|>{{ message.content }}\n{% endif %}' }),
  },
  { name: 'no user after tool', preparation: 'vllm', template: style({ before: USER_AFTER_TOOL }) },
  { name: 'single calls only', preparation: 'vllm', template: style({ before: SINGLE_CALLS }) },
  { name: 'ids of nine characters', preparation: 'vllm', template: style({ before: TOOL_IDS }) },
  { name: 'typed schemas', preparation: 'vllm', template: style({ head: TYPED }) },
  {
    name: 'content that must be a string',
    preparation: 'none',
    template: style({ text: "{{ '' + message.content | trim }}" }),
  },
  {
    name: 'content with text parts is printed raw',
    preparation: 'none',
    template: style({
      text: '{% if message.content is string %}{{ message.content }}{% else %}{{ message.content | tojson }}{% endif %}',
    }),
  },
  {
    name: 'null is printed as text',
    preparation: 'none',
    template: style({ text: '{{ message.content if message.content is not none else "None" }}' }),
  },
  { name: 'unknown roles are refused', preparation: 'vllm', template: style({ before: KNOWN_ROLES }) },
  {
    name: 'arguments are objects',
    preparation: 'vllm',
    template: style({
      call: '{% for key, value in call.function.arguments | items %}{{ key }}={{ value }};{% endfor %}',
    }),
  },
  {
    name: 'everything at once',
    preparation: 'vllm',
    template: style({
      head: ALTERNATES + TYPED,
      before: LATE_SYSTEM + USER_AFTER_TOOL + SINGLE_CALLS + TOOL_IDS + KNOWN_ROLES,
    }),
  },
];
