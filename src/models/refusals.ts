// Recognizes what an endpoint means by a refusal, where its status does not say it: a wrong key, no credit, a model that it
// does not have, a region that it does not serve.
import { type ModelCode } from '../base/failureCodes.ts';

type Meaning = Extract<ModelCode, 'key_refused' | 'no_quota' | 'model_gone' | 'region_refused'>;

/** Sentences and codes of the named endpoints; the first that matches counts. */
const MEANINGS: readonly (readonly [Meaning, RegExp])[] = [
  // OpenAI: code unsupported_country_region_territory; Google: “User location is not supported for the API use.”
  ['region_refused', /unsupported_country|(?:country|region|territory|location)[^.]{0,60}not (?:supported|available)/i],
  // Anthropic: “Your credit balance is too low to access the Anthropic API”; xAI: “… used all available credits”;
  // OpenAI: insufficient_quota; DeepSeek: “Insufficient Balance”.
  [
    'no_quota',
    /insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|(?:no|all available) credits|spending limit/i,
  ],
  // Google: “API key not valid. Please pass a valid API key.”; OpenAI: invalid_api_key; Anthropic: “invalid x-api-key”.
  [
    'key_refused',
    /api key not valid|invalid[_ ](?:x-)?api[_ -]key|incorrect api key|invalid authentication|no auth credentials/i,
  ],
  // OpenAI: model_not_found; Anthropic: “model: claude-x” (not_found_error); DeepSeek: “Model Not Exist”; Mistral: “Invalid
  // model: x”; OpenRouter: “x is not a valid model ID”; Ollama: “model 'x' not found”.
  [
    'model_gone',
    /model_not_found|model not exist|invalid model\b|not a valid model|model\b[^.]{0,120}(?:not found|does not exist|deprecated|decommissioned|no longer available)/i,
  ],
];

/** Statuses whose meaning is certain or has nothing to do with these. */
const CLEAR: ReadonlySet<number | undefined> = new Set([undefined, 408, 409, 413, 500, 502, 503, 504, 529]);

export function meaningOf(status: number | undefined, code: string | undefined, text: string): Meaning | undefined {
  if (CLEAR.has(status)) return undefined;
  if (status === 401) return 'key_refused';
  if (status === 402) return 'no_quota';
  const said = `${code ?? ''} ${text.slice(0, 2000)}`;
  const meaning = MEANINGS.find(([, pattern]) => pattern.test(said))?.[0];
  // A limit of the rate may name an account's model or quota too.
  return status === 429 && meaning !== 'no_quota' ? undefined : meaning;
}
