// Profiles of OpenAI-compatible endpoints: shipped for known ones, learnt from rejections for others. Pure.
import { dialectOf, type EndpointProfile } from './chat/dialects.ts';

export type { EndpointProfile } from './chat/dialects.ts';

/** The most restrictive shape of messages: every endpoint accepts it. */
export const CAREFUL: EndpointProfile = {
  ...dialectOf('http://unknown.invalid', '').profile,
  userAfterTool: false,
  alternation: 'strict',
  singleCalls: true,
};

export function shippedProfile(baseUrl: string, model = ''): EndpointProfile {
  return dialectOf(baseUrl, model).profile;
}

/** The server's name, if its address reveals it. */
export function endpointLabel(baseUrl: string): string | undefined {
  return dialectOf(baseUrl, '').label;
}

/** Matches a sentence that has one word of each list, in this order. */
type Wording = readonly (readonly string[])[];

/** Rejection messages seen on the named servers. */
const HINTS: readonly {
  readonly wordings: readonly Wording[];
  /** Fixed phrases that match too. */
  readonly words?: RegExp;
  readonly learnt: Partial<EndpointProfile>;
}[] = [
  // Mistral: "Unexpected role 'user' after role 'tool'"; vLLM and llama.cpp templates: "after tool".
  { wordings: [[['user'], ['after'], ['tool']]], learnt: { userAfterTool: false } },
  // Templates of Llama 3: "This model only supports single tool-calls at once!".
  { wordings: [[['single'], ['tool'], ['call', 'calls']]], learnt: { singleCalls: true } },
  // Mistral: "Tool call id was call_x but must be a-z, A-Z, 0-9, with a length of 9"; its templates: "… with length 9!".
  { wordings: [[['tool'], ['call'], ['id', 'ids'], ['9']]], learnt: { ids: 'nine' } },
  // Gemini: "Function call is missing a thought_signature in functionCall parts".
  { wordings: [[['missing'], ['thought_signature']]], learnt: { signatures: true } },
  // DeepSeek: "The `reasoning_content` in the thinking mode must be passed back to the API"; Kimi: "… is missing in …".
  { wordings: [[['reasoning_content'], ['must', 'missing', 'required']]], learnt: { reasoning: 'always' } },
  // "Extra inputs are not permitted: reasoning_content", "property 'reasoning' is unsupported".
  {
    wordings: [
      [
        ['reasoning_content', 'reasoning', 'reasoning_details'],
        ['permitted', 'unsupported', 'unknown', 'unexpected', 'unrecognized', 'extra'],
      ],
      [
        ['unsupported', 'unknown', 'unexpected', 'unrecognized', 'extra'],
        ['reasoning_content', 'reasoning', 'reasoning_details'],
      ],
    ],
    learnt: { reasoning: 'never' },
  },
  // "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead".
  { wordings: [[['max_tokens'], ['max_completion_tokens']]], learnt: { limitField: 'max_completion_tokens' } },
  // Templates of Gemma, Llama 2 and Mistral: "Conversation roles must alternate user/assistant/…".
  { wordings: [], words: /\balternat/i, learnt: { alternation: 'strict' } },
  // "Unexpected role 'system' after role 'user'", "System message must be at the beginning", "Only the first message can be…".
  {
    wordings: [
      [
        ['system', 'developer'],
        ['after', 'beginning', 'first', 'start'],
      ],
      [['first'], ['system']],
    ],
    learnt: { midSystem: false },
  },
  // "messages[4].tools: Extra inputs are not permitted", "tools are not supported in system messages".
  {
    wordings: [
      [['messages'], ['tools'], ['permitted', 'unsupported', 'unknown', 'unexpected', 'unrecognized', 'supported']],
      [['tools'], ['system'], ['message', 'messages']],
    ],
    learnt: { midTools: false },
  },
  // "'developer' is not one of ['system', 'assistant', …]", "Unknown role: developer", "Unexpected message role".
  {
    wordings: [[['developer']], [['unknown', 'unexpected', 'invalid', 'unsupported'], ['role']]],
    learnt: { systemRole: 'system' },
  },
  // "Input should be a valid string", "content must be a string", "invalid type: sequence, expected a string".
  {
    wordings: [[['content'], ['string', 'array', 'list', 'part', 'parts']]],
    words: /\bvalid string\b|\bexpected a string\b/i,
    learnt: { toolContent: 'text' },
  },
];

/** Profiles that a rejection hints at, most likely first. */
export function hintsIn(profile: EndpointProfile, refusal: string): EndpointProfile[] {
  const sentences = refusal.split('.').map((sentence) => sentence.toLowerCase().match(/\w+/g) ?? []);
  const isSaid = (wording: Wording) => sentences.some((words) => says(words, wording));
  return HINTS.filter(({ wordings, words }) => words?.test(refusal) === true || wordings.some(isSaid))
    .map(({ learnt }) => ({ ...profile, ...learnt }))
    .filter((next) => !sameProfile(next, profile));
}

/** One pass is enough: taking the first word that matches a list never prevents a later match. */
function says(words: readonly string[], wording: Wording): boolean {
  let next = 0;
  for (const word of words) if (wording[next]?.includes(word) === true) next += 1;
  return next === wording.length;
}

function sameProfile(a: EndpointProfile, b: EndpointProfile): boolean {
  return (Object.keys(a) as (keyof EndpointProfile)[]).every((field) => a[field] === b[field]);
}
