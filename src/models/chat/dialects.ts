// What is known about chat-completions endpoints, by host and model. Data only: nothing here is learnt, and silent losses
// cannot be learnt, so only verified facts are listed.
import { type Effort } from '../../protocol/settings.ts';
import { type SchemaFlavour } from './toolSchemas.ts';

/** Differences between endpoints in what they accept. A rejection can change each of them. */
export interface EndpointProfile {
  /** The role of the first message. */
  readonly systemRole: 'system' | 'developer';
  /** Whether the model is verified to read a system or developer message after the first message. Never learnt. */
  readonly midSystem: boolean;
  /** Tools that are found later are described by a system message after their results, so that the prefix stays. */
  readonly midTools: boolean;
  /** Whether a tool's result may be a list of parts. */
  readonly toolContent: 'parts' | 'text';
  /** Whether a user's message may follow a tool's result. */
  readonly userAfterTool: boolean;
  /** Queued messages of the user are in the result's text, because the endpoint takes them nowhere else. */
  readonly queuedInside: boolean;
  /** `strict`: user and assistant messages alternate, and the user's comes first. */
  readonly alternation: 'free' | 'strict';
  /** An assistant message may have only one call. */
  readonly singleCalls: boolean;
  /** Whether reasoning goes back: in the field it came in, or also on messages without any. */
  readonly reasoning: 'never' | 'same-field' | 'always';
  /** Calls need a signature of the model; calls of others get one that the endpoint accepts. */
  readonly signatures: boolean;
  /** Ids of calls: as they are, of 64 or 40 plain characters, or nine letters and digits. */
  readonly ids: 'any' | 'plain64' | 'plain40' | 'nine';
  readonly limitField: 'max_tokens' | 'max_completion_tokens';
}

/** How the effort is sent. */
type EffortStyle =
  /** `reasoning_effort`. */
  | 'effort'
  /** `reasoning: { effort }`, as OpenRouter takes it. */
  | 'object'
  /** `reasoning: { enabled }`. */
  | 'enabled'
  /** `thinking: { type }`. */
  | 'thinking'
  /** `thinking: { type }` and `reasoning_effort`. */
  | 'thinking-effort'
  /** `thinking: { type, clear_thinking: false }`, also without an effort: reasoning of earlier turns is kept. */
  | 'thinking-kept'
  /** The same and `reasoning_effort`. */
  | 'thinking-kept-effort'
  /** `enable_thinking`. */
  | 'enable_thinking'
  /** `reasoning_effort`; a template is asked not to reason with `chat_template_kwargs`. */
  | 'template';

export interface Dialect {
  /** The server's name. */
  readonly label?: string;
  readonly profile: EndpointProfile;
  readonly effort: EffortStyle;
  /** The efforts that are accepted, lowest first; others are replaced by the next lower one. Absent: all. */
  readonly efforts?: readonly Effort[];
  /** `key`: `prompt_cache_key`; `parts`: `cache_control` on content parts. */
  readonly cache: 'none' | 'key' | 'parts';
  /** The header for the conversation's id, which keeps its requests on one server. */
  readonly session?: string;
  /** The content of an assistant message that has only calls: templates print null as text. */
  readonly emptyContent: '' | null;
  /** Whether a request can restrict the tools that may be called. */
  readonly allowedTools: boolean;
  /** Further parameters of every request with tools. */
  readonly withTools: Readonly<Record<string, unknown>>;
  /** The part of JSON Schema that the schemas of tools may use. Absent: all of it. */
  readonly schemas?: SchemaFlavour;
}

/** For unknown endpoints: follows the rules that most endpoints have, and uses nothing that only some accept. */
const UNKNOWN: Dialect = {
  profile: {
    systemRole: 'system',
    midSystem: false,
    midTools: false,
    toolContent: 'text',
    userAfterTool: true,
    queuedInside: false,
    alternation: 'free',
    singleCalls: false,
    reasoning: 'same-field',
    signatures: false,
    ids: 'any',
    limitField: 'max_tokens',
  },
  effort: 'effort',
  cache: 'none',
  emptyContent: '',
  allowedTools: false,
  withTools: {},
};

type Facts = Partial<Omit<Dialect, 'profile'>> & { readonly profile?: Partial<EndpointProfile> };

interface Row extends Facts {
  readonly matches: (url: URL) => boolean;
  /** Facts of some of its models, added to those above; the first that matches counts. */
  readonly models?: readonly (readonly [matches: (model: string) => boolean, facts: Facts])[];
}

const host =
  (...names: string[]) =>
  (url: URL) =>
    names.some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));
const port = (number: number) => (url: URL) => url.port === String(number);
const begins =
  (...starts: string[]) =>
  (model: string) =>
    starts.some((start) => model.toLowerCase().startsWith(start));

/** Whether the model's name begins with this word and a version that is not older. */
const since =
  (word: string, major: number, minor = 0) =>
  (model: string): boolean => {
    const name = model.toLowerCase();
    const found = name.startsWith(word) ? /^(\d{1,3})(?:\.(\d{1,3}))?/.exec(name.slice(word.length)) : null;
    if (found === null) return false;
    const [first, second] = [Number(found[1]), Number(found[2] ?? 0)];
    return first > major || (first === major && second >= minor);
  };

/** Models behind Together AI that take `reasoning_effort`. */
const hasLevels = (model: string) => /gpt-oss|glm-5\.[3-9]/i.test(model);

const BELOW_XHIGH: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high'];
const UP_TO_XHIGH: readonly Effort[] = [...BELOW_XHIGH, 'xhigh'];
const COMPLETION = { limitField: 'max_completion_tokens' } as const;

const ROWS: readonly Row[] = [
  {
    label: 'OpenAI',
    matches: host('openai.com'),
    profile: { systemRole: 'developer', toolContent: 'parts', reasoning: 'never', ids: 'plain40', ...COMPLETION },
    cache: 'key',
    emptyContent: null,
    allowedTools: true,
    models: [[since('gpt-', 5, 4), { profile: { midSystem: true } }]],
  },
  {
    label: 'Azure OpenAI',
    matches: host('openai.azure.com', 'services.ai.azure.com'),
    profile: { systemRole: 'developer', toolContent: 'parts', reasoning: 'never', ids: 'plain40', ...COMPLETION },
    cache: 'key',
    emptyContent: null,
  },
  {
    label: 'OpenRouter',
    matches: host('openrouter.ai'),
    profile: { ids: 'plain64' },
    effort: 'object',
    efforts: UP_TO_XHIGH,
    session: 'x-session-id',
    models: [
      [begins('anthropic/'), { cache: 'parts', profile: { toolContent: 'parts' } }],
      [begins('qwen/', 'alibaba/'), { cache: 'parts' }],
    ],
  },
  {
    label: 'DeepSeek',
    matches: host('deepseek.com'),
    profile: { reasoning: 'always' },
    effort: 'thinking-effort',
    efforts: ['none', 'low', 'high', 'max'],
    models: [[begins('deepseek-v4-pro'), { profile: { midSystem: true } }]],
  },
  {
    label: 'Google',
    matches: host('generativelanguage.googleapis.com'),
    efforts: BELOW_XHIGH,
    schemas: 'gemini',
    models: [[since('gemini-', 3), { profile: { signatures: true } }]],
  },
  // Rejects `user` after `tool` and ids of other lengths; its templates require messages that alternate.
  {
    label: 'Mistral',
    matches: host('mistral.ai'),
    profile: { userAfterTool: false, alternation: 'strict', ids: 'nine', reasoning: 'never' },
    cache: 'key',
  },
  { label: 'xAI', matches: host('x.ai'), profile: COMPLETION, cache: 'key' },
  { label: 'Groq', matches: host('groq.com'), profile: COMPLETION, efforts: BELOW_XHIGH },
  { label: 'Cerebras', matches: host('cerebras.ai'), profile: COMPLETION, efforts: BELOW_XHIGH, cache: 'key' },
  {
    label: 'Together AI',
    matches: host('together.xyz', 'together.ai'),
    effort: 'enabled',
    models: [[hasLevels, { effort: 'effort' }]],
  },
  {
    label: 'Fireworks AI',
    matches: host('fireworks.ai'),
    session: 'x-session-affinity',
    models: [[(model) => model.includes('kimi'), { profile: { reasoning: 'always' } }]],
  },
  {
    label: 'Moonshot AI',
    matches: host('moonshot.ai', 'moonshot.cn', 'kimi.com'),
    effort: 'thinking',
    schemas: 'kimi',
    models: [
      [since('k', 3), { profile: { midSystem: true, midTools: true, reasoning: 'always' }, effort: 'effort' }],
      [since('kimi-k', 3), { profile: { midSystem: true, midTools: true, reasoning: 'always' }, effort: 'effort' }],
      [since('kimi-k', 2, 6), { profile: { midSystem: true, midTools: true } }],
    ],
  },
  {
    label: 'Z.ai',
    matches: host('z.ai', 'bigmodel.cn'),
    profile: { reasoning: 'always' },
    effort: 'thinking-kept',
    withTools: { tool_stream: true },
    models: [[since('glm-', 5, 2), { effort: 'thinking-kept-effort' }]],
  },
  { label: 'Alibaba Cloud', matches: host('aliyuncs.com'), effort: 'enable_thinking' },
  {
    label: 'Xiaomi MiMo',
    matches: host('xiaomimimo.com'),
    profile: { reasoning: 'always', ...COMPLETION },
    effort: 'thinking',
  },
  { label: 'NVIDIA', matches: host('nvidia.com'), effort: 'template' },
  { label: 'Hugging Face', matches: host('huggingface.co'), effort: 'template' },
  { label: 'Baseten', matches: host('baseten.co'), effort: 'template' },
  { label: 'Ollama', matches: port(11434) },
  { label: 'LM Studio', matches: port(1234), effort: 'template' },
  { label: 'llama.cpp', matches: port(8080), effort: 'template' },
  { label: 'vLLM', matches: port(8000), effort: 'template' },
];

export function dialectOf(baseUrl: string, model: string): Dialect {
  const url = new URL(baseUrl);
  const row = ROWS.find(({ matches }) => matches(url));
  if (row === undefined) return UNKNOWN;
  const { matches: _, models = [], ...facts } = row;
  // Google lists its models with this prefix, and takes both.
  const name = model.replace(/^models\//, '');
  const own = models.find(([matches]) => matches(name))?.[1] ?? {};
  return { ...UNKNOWN, ...facts, ...own, profile: { ...UNKNOWN.profile, ...facts.profile, ...own.profile } };
}

/** The parameters with which the endpoint takes this effort. Undefined: as the model is by default. */
export function effortParameters({ effort: style, efforts }: Dialect, wanted: Effort | undefined) {
  const effort = wanted === undefined ? undefined : nearest(efforts, wanted);
  const type = effort === 'none' ? 'disabled' : 'enabled';
  const kept = { thinking: { type, clear_thinking: false } };
  if (style === 'thinking-kept') return kept;
  if (style === 'thinking-kept-effort')
    return { ...kept, ...(effort !== undefined && effort !== 'none' && { reasoning_effort: effort }) };
  if (effort === undefined) return {};
  switch (style) {
    case 'effort':
      return { reasoning_effort: effort };
    case 'object':
      return { reasoning: effort === 'none' ? { enabled: false } : { effort } };
    case 'enabled':
      return { reasoning: { enabled: effort !== 'none' } };
    case 'thinking':
      return { thinking: { type } };
    case 'thinking-effort':
      return { thinking: { type }, ...(effort !== 'none' && { reasoning_effort: effort }) };
    case 'enable_thinking':
      return { enable_thinking: effort !== 'none', ...(effort !== 'none' && { preserve_thinking: true }) };
    case 'template':
      return effort === 'none' ? { chat_template_kwargs: { enable_thinking: false } } : { reasoning_effort: effort };
  }
}

/** Reasoning can only be switched on and off there. */
const SWITCHES: readonly EffortStyle[] = ['enabled', 'thinking', 'thinking-kept', 'enable_thinking'];

/** Of the levels that a model has, those that the endpoint can be asked for: no two of them are the same request. */
export function offeredLevels(dialect: Dialect, levels: readonly Effort[]): readonly Effort[] {
  const most = levels.at(-1);
  if (most === undefined) return [];
  if (SWITCHES.includes(dialect.effort)) return most === 'none' ? [] : ['none', most];
  const asked = new Map(levels.map((level) => [JSON.stringify(effortParameters(dialect, level)), level]));
  return levels.filter((level) => [...asked.values()].includes(level));
}

const ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The greatest accepted effort that is not above the wanted one; reasoning is never switched off unasked. */
function nearest(accepted: readonly Effort[] = ORDER, wanted: Effort): Effort {
  const fitting = accepted.filter((effort) => ORDER.indexOf(effort) <= ORDER.indexOf(wanted));
  const best = fitting.at(-1) ?? accepted[0] ?? wanted;
  return best === 'none' && wanted !== 'none' ? (accepted[1] ?? wanted) : best;
}
