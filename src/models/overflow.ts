// Recognizes that a request exceeds the context window, by the sentences of the vendors.

/** Error codes: OpenAI and most others, Z.ai, llama.cpp. */
const CODES: ReadonlySet<string> = new Set(['context_length_exceeded', '1261', 'exceed_context_size_error']);

const SENTENCES: readonly RegExp[] = [
  // OpenAI, DeepSeek, OpenRouter, vLLM: "This model's maximum context length is 128000 tokens. However, …".
  /maximum context length/i,
  /context[_ ]length[_ ]exceeded/i,
  // OpenAI Responses: "Your input exceeds the context window of this model"; llama.cpp: "… the available context size".
  /exceed(?:s|ed)?(?: the)?(?: available| maximum| max)? context/i,
  // MiniMax: "context window exceeds limit".
  /context window exceed/i,
  // Anthropic: "prompt is too long: 213462 tokens > 200000 maximum"; Bedrock: "input is too long for requested model".
  /(?:prompt|input|request) is too long/i,
  // Ollama: "prompt too long; exceeded max context length by 4 tokens".
  /prompt too long/i,
  // Cohere: "too many tokens: …".
  /too many (?:input )?tokens/i,
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)".
  /input token count .{0,40}exceeds/i,
  // GitHub: "prompt token count of 130000 exceeds the limit of 128000".
  /prompt token count .{0,40}exceeds/i,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens".
  /maximum prompt length/i,
  // Groq: "Please reduce the length of the messages or completion".
  /reduce the length of the (?:messages|prompt|input)/i,
  // LM Studio: "tokens to keep from the initial prompt is greater than the context length".
  /greater than the context length/i,
  // Together, SGLang: "The input (9000 tokens) is longer than the model's context length (8192 tokens)"; vLLM: "… than the
  // maximum model length".
  /longer than the (?:model's context|maximum model) length/i,
  // Mistral: "Prompt contains 40960 tokens …, too large for model with 32768 maximum context length".
  /too large for model with/i,
  // Z.ai: "Prompt exceeds max length".
  /prompt exceeds max(?:imum)? length/i,
  // Qwen: "Range of input length should be [1, 129024]".
  /range of input length should be/i,
  // Kimi: "Your request exceeded model token limit: 262144 (requested: 300000)".
  /exceeded model token limit/i,
  // Text Generation Inference: "`inputs` tokens + `max_new_tokens` must be <= 4096".
  /`max_new_tokens` must be/i,
  // GitHub Copilot answers 413 "failed to parse request"; its status is enough.
];

/** Limits of a rate name tokens and limits too. */
const RATE = /rate.?limit|tokens per (?:minute|day|hour)|\b[rt]p[md]\b|too many requests|throttl|quota/i;

/** Cerebras refuses a request that is too long with status 400 and an empty body. */
const WITHOUT_BODY = { host: /(?:^|\.)cerebras\.ai$/, text: /^400 status code \(no body\)$/ };

/** Whether the error says that the request exceeds the context window. `baseUrl`: of the endpoint. */
export function isOverflow(text: string, code?: string, baseUrl?: string): boolean {
  if (code !== undefined && CODES.has(code)) return true;
  if (WITHOUT_BODY.text.test(text)) return baseUrl !== undefined && WITHOUT_BODY.host.test(new URL(baseUrl).hostname);
  if (RATE.test(text)) return false;
  return SENTENCES.some((sentence) => sentence.test(text)) || text.split('.').some(namesLength);
}

/** Matches “The context window of 4,096 tokens is exceeded”. */
function namesLength(sentence: string): boolean {
  const at = sentence.search(/context (?:size|window|length)/i);
  return at !== -1 && /exceed|overflow|too (?:long|large|small)/i.test(sentence.slice(at));
}
