// Providers with OpenAI-compatible endpoints that are offered by name; any other address can be entered.

export interface Provider {
  readonly label: string;
  readonly baseUrl: string;
  /** The names of its models, by which people look for it. */
  readonly models?: string;
}

export const PROVIDERS: readonly Provider[] = [
  { label: 'OpenAI', baseUrl: 'https://api.openai.com/v1', models: 'GPT' },
  { label: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1' },
  { label: 'Mistral', baseUrl: 'https://api.mistral.ai/v1', models: 'Codestral, Devstral' },
  { label: 'Anthropic', baseUrl: 'https://api.anthropic.com/v1', models: 'Claude' },
  { label: 'Google', baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', models: 'Gemini' },
  { label: 'xAI', baseUrl: 'https://api.x.ai/v1', models: 'Grok' },
  { label: 'DeepSeek', baseUrl: 'https://api.deepseek.com/v1' },
  { label: 'Alibaba Cloud', baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', models: 'Qwen' },
  { label: 'Moonshot AI', baseUrl: 'https://api.moonshot.ai/v1', models: 'Kimi' },
  { label: 'Z.ai', baseUrl: 'https://api.z.ai/api/paas/v4', models: 'GLM' },
  { label: 'Groq', baseUrl: 'https://api.groq.com/openai/v1' },
  { label: 'Cerebras', baseUrl: 'https://api.cerebras.ai/v1' },
  { label: 'Together AI', baseUrl: 'https://api.together.xyz/v1' },
  { label: 'Fireworks AI', baseUrl: 'https://api.fireworks.ai/inference/v1' },
  { label: 'DeepInfra', baseUrl: 'https://api.deepinfra.com/v1/openai' },
  { label: 'Hugging Face', baseUrl: 'https://router.huggingface.co/v1' },
  { label: 'NVIDIA', baseUrl: 'https://integrate.api.nvidia.com/v1', models: 'Nemotron' },
];
