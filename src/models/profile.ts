// Profiles of OpenAI-compatible endpoints: shipped for known ones, learnt from rejections for others. Pure.

/** Differences between endpoints in the messages that they accept. */
export interface EndpointProfile {
  /** The role of the first message. */
  readonly systemRole: 'system' | 'developer';
  /** Whether a system or developer message may come after the first message. */
  readonly midSystem: boolean;
  /** Whether a tool's result may be a list of parts. */
  readonly toolContent: 'parts' | 'text';
  /** Whether a user's message may follow a tool's result. */
  readonly userAfterTool: boolean;
  /** `strict`: user and assistant messages alternate, and the user's comes first. */
  readonly alternation: 'free' | 'strict';
}

/** For unknown endpoints: follows the rules that most endpoints have, and uses nothing that only some accept. */
const UNKNOWN: EndpointProfile = {
  systemRole: 'system',
  midSystem: true,
  toolContent: 'text',
  userAfterTool: true,
  alternation: 'free',
};

/** The most restrictive profile: every endpoint accepts it. */
export const CAREFUL: EndpointProfile = {
  systemRole: 'system',
  midSystem: false,
  toolContent: 'text',
  userAfterTool: false,
  alternation: 'strict',
};

interface KnownEndpoint {
  readonly label: string;
  readonly matches: (url: URL) => boolean;
  readonly profile: Partial<EndpointProfile>;
}

const host =
  (...names: string[]) =>
  (url: URL) =>
    names.some((name) => url.hostname === name || url.hostname.endsWith(`.${name}`));
const port = (number: number) => (url: URL) => url.port === String(number);

const KNOWN: readonly KnownEndpoint[] = [
  { label: 'OpenAI', matches: host('openai.com'), profile: { systemRole: 'developer', toolContent: 'parts' } },
  { label: 'OpenRouter', matches: host('openrouter.ai'), profile: {} },
  // Rejects `user` after `tool` and system messages after the first message.
  { label: 'Mistral', matches: host('mistral.ai'), profile: { midSystem: false, userAfterTool: false } },
  { label: 'Ollama', matches: port(11434), profile: {} },
  // These apply the model's chat template, and most templates reject a late system message.
  { label: 'LM Studio', matches: port(1234), profile: { midSystem: false } },
  { label: 'llama.cpp', matches: port(8080), profile: { midSystem: false } },
  { label: 'vLLM', matches: port(8000), profile: { midSystem: false } },
];

export function shippedProfile(baseUrl: string): EndpointProfile {
  const url = new URL(baseUrl);
  return { ...UNKNOWN, ...KNOWN.find((known) => known.matches(url))?.profile };
}

/** The server's name, if its address reveals it. */
export function endpointLabel(baseUrl: string): string | undefined {
  const url = new URL(baseUrl);
  return KNOWN.find((known) => known.matches(url))?.label;
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
  return (
    a.systemRole === b.systemRole &&
    a.midSystem === b.midSystem &&
    a.toolContent === b.toolContent &&
    a.userAfterTool === b.userAfterTool &&
    a.alternation === b.alternation
  );
}
