// The providers of models: those of the settings, and presets for well-known ones, which need only a key.
import { type ModelApi } from '../protocol/event.ts';
import { type Settings } from '../protocol/settings.ts';
import { apiOf } from './api.ts';
import { endpointLabel } from './profile.ts';

export interface Preset {
  /** The id that its entry in the settings gets. */
  readonly id: string;
  readonly label: string;
  readonly baseUrl: string;
  /** The names of its models, by which people look for it. */
  readonly models?: string;
  /** The variable of the environment that may have its key, and how such a key begins. */
  readonly variable?: string;
  readonly keys?: RegExp;
}

export const PRESETS: readonly Preset[] = [
  {
    id: 'anthropic',
    label: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    models: 'Claude',
    variable: 'ANTHROPIC_API_KEY',
    keys: /^sk-ant-/,
  },
  {
    id: 'openai',
    label: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    models: 'GPT',
    variable: 'OPENAI_API_KEY',
    keys: /^sk-(?:proj|svcacct|admin)-/,
  },
  {
    id: 'google',
    label: 'Google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    models: 'Gemini',
    variable: 'GEMINI_API_KEY',
    keys: /^AIza[\w-]{35}$|^AQ\.[\w-]{20,}$/,
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    variable: 'OPENROUTER_API_KEY',
    keys: /^sk-or-/,
  },
  { id: 'xai', label: 'xAI', baseUrl: 'https://api.x.ai/v1', models: 'Grok', variable: 'XAI_API_KEY', keys: /^xai-/ },
  { id: 'meta', label: 'Meta', baseUrl: 'https://api.meta.ai/v1', models: 'Muse, Llama' },
  { id: 'deepseek', label: 'DeepSeek', baseUrl: 'https://api.deepseek.com/v1', variable: 'DEEPSEEK_API_KEY' },
  {
    id: 'mistral',
    label: 'Mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    models: 'Codestral, Devstral',
    variable: 'MISTRAL_API_KEY',
  },
  {
    id: 'moonshot',
    label: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    models: 'Kimi',
    variable: 'MOONSHOT_API_KEY',
  },
  { id: 'zai', label: 'Z.ai', baseUrl: 'https://api.z.ai/api/paas/v4', models: 'GLM', variable: 'ZAI_API_KEY' },
  {
    id: 'minimax',
    label: 'MiniMax',
    baseUrl: 'https://api.minimax.io/anthropic',
    models: 'MiniMax',
    variable: 'MINIMAX_API_KEY',
  },
  {
    id: 'alibaba',
    label: 'Alibaba Cloud',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    models: 'Qwen',
    variable: 'DASHSCOPE_API_KEY',
  },
  { id: 'xiaomi', label: 'Xiaomi', baseUrl: 'https://api.xiaomimimo.com/v1', models: 'MiMo' },
  {
    id: 'groq',
    label: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    variable: 'GROQ_API_KEY',
    keys: /^gsk_/,
  },
  {
    id: 'cerebras',
    label: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    variable: 'CEREBRAS_API_KEY',
    keys: /^csk-/,
  },
  { id: 'together', label: 'Together AI', baseUrl: 'https://api.together.ai/v1', variable: 'TOGETHER_API_KEY' },
  {
    id: 'fireworks',
    label: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    variable: 'FIREWORKS_API_KEY',
    keys: /^fw_/,
  },
  { id: 'deepinfra', label: 'DeepInfra', baseUrl: 'https://api.deepinfra.com/v1/openai' },
  {
    id: 'huggingface',
    label: 'Hugging Face',
    baseUrl: 'https://router.huggingface.co/v1',
    variable: 'HF_TOKEN',
    keys: /^hf_/,
  },
  {
    id: 'nvidia',
    label: 'NVIDIA',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    models: 'Nemotron',
    variable: 'NVIDIA_API_KEY',
    keys: /^nvapi-/,
  },
  { id: 'baseten', label: 'Baseten', baseUrl: 'https://inference.baseten.co/v1' },
];

/** A provider that can be used: one of `earshot.providers`, or the endpoint of `earshot.baseUrl`, whose id is empty. */
export interface Provider {
  readonly id: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly api: ModelApi;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The models to offer, if it does not list them. */
  readonly models?: readonly string[] | undefined;
}

type ProviderSettings = Pick<Settings, 'providers' | 'baseUrl'>;

/** The endpoint of `earshot.baseUrl` comes first. */
export function providersIn({ providers, baseUrl }: ProviderSettings): readonly Provider[] {
  return [
    ...(baseUrl === '' ? [] : [endpointAt(baseUrl)]),
    ...Object.entries(providers).map(([id, { name, api, baseUrl: at, headers, models }]) => ({
      id,
      label: name ?? labelOf(at),
      baseUrl: at,
      api: api ?? apiOf(at),
      headers,
      models,
    })),
  ];
}

/** An endpoint without an entry in `earshot.providers`. */
export function endpointAt(baseUrl: string): Provider {
  return { id: '', label: labelOf(baseUrl), baseUrl, api: apiOf(baseUrl) };
}

/** Finds the provider of `<id>/<model>`. Other names belong to the endpoint of `earshot.baseUrl`. */
export function findModel(
  settings: ProviderSettings,
  reference: string,
): { readonly provider: Provider; readonly model: string } | undefined {
  const slash = reference.indexOf('/');
  const id = reference.slice(0, Math.max(0, slash));
  const model = reference.slice(slash + 1);
  const all = providersIn(settings);
  const named = id === '' || model === '' ? undefined : all.find((one) => one.id === id);
  if (named !== undefined) return { provider: named, model };
  const unnamed = all.find((one) => one.id === '');
  return unnamed === undefined || reference === '' ? undefined : { provider: unnamed, model: reference };
}

export function referenceTo({ id }: Pick<Provider, 'id'>, model: string): string {
  return id === '' ? model : `${id}/${model}`;
}

/** The preset of an endpoint, by its host. */
function presetAt(baseUrl: string): Preset | undefined {
  const { host } = new URL(baseUrl);
  return PRESETS.find((preset) => new URL(preset.baseUrl).host === host);
}

function labelOf(baseUrl: string): string {
  return presetAt(baseUrl)?.label ?? endpointLabel(baseUrl) ?? new URL(baseUrl).host;
}

/** The provider that a pasted key certainly belongs to; undefined: its form does not tell. */
export function presetOfKey(key: string): Preset | undefined {
  return PRESETS.find(({ keys }) => keys?.test(key) === true);
}

/** An id for an endpoint that gets an entry: of its preset, or made from its host. Never one that is taken. */
export function freeId({ providers, model }: Pick<Settings, 'providers' | 'model'>, baseUrl: string): string {
  const { hostname, port } = new URL(baseUrl);
  const local = endpointLabel(baseUrl)
    ?.toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  const wanted = presetAt(baseUrl)?.id ?? local ?? `${hostname.replace(/[^A-Za-z0-9.-]+/g, '-')}${port && `-${port}`}`;
  // A model of `earshot.baseUrl` may be called `openai/gpt-5`, which a provider with this id would hide.
  const taken = (id: string) => Object.hasOwn(providers, id) || model.startsWith(`${id}/`);
  let id = wanted.slice(0, 60);
  for (let next = 2; taken(id); next++) id = `${wanted.slice(0, 60)}-${next}`;
  return id;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * A key of the environment. A key that names its provider is sent only there; the general one only to the endpoint of
 * `earshot.baseUrl`.
 */
export function environmentKey(
  { id, baseUrl }: Pick<Provider, 'id' | 'baseUrl'>,
  env: Environment,
): string | undefined {
  const own = id === '' ? 'EARSHOT_API_KEY' : `EARSHOT_API_KEY_${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  const { origin } = new URL(baseUrl);
  const known = PRESETS.find((preset) => new URL(preset.baseUrl).origin === origin);
  const found = [own, ...(known?.variable === undefined ? [] : [known.variable])].map((name) => env[name]);
  return found.find((key) => key !== undefined && key !== '');
}
