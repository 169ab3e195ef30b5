// What an answer of a chat-completions endpoint has besides text and calls, and which of it goes back to the endpoint.
import { type WireOrigin } from '../../protocol/event.ts';
import { type EndpointProfile } from './dialects.ts';

/** The fields in which servers send reasoning as text. Only one is used: sending a second one back would be invented. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const;
export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** `items` of the origin has one of these. Calls are named by their position, because their ids may be replaced. */
export interface ChatItem {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_text?: string;
  /** GitHub Copilot. */
  readonly reasoning_opaque?: string;
  /** OpenRouter. */
  readonly reasoning_details?: readonly unknown[];
  /** LiteLLM. */
  readonly thinking_blocks?: readonly unknown[];
  /** `extra_content` of each call; Gemini's signatures are there. */
  readonly calls?: readonly unknown[];
}

/** Fields to add to an assistant message, and `extra_content` for each of its calls. */
export interface Returned {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly calls: readonly unknown[];
}

/** Gemini accepts it for calls that it did not make. */
const FOREIGN_CALL = { google: { thought_signature: 'skip_thought_signature_validator' } };

export interface Target {
  readonly provider: string;
  readonly model: string;
  readonly profile: EndpointProfile;
}

/** `calls`: how many calls the message has. */
export function returnedTo(target: Target, origin: WireOrigin | undefined, calls: number): Returned {
  const { reasoning, signatures } = target.profile;
  const item = isOwn(target, origin) ? readItem(origin?.items[0]) : undefined;
  const own = reasoning === 'never' || item === undefined ? {} : fieldsOf(item);
  const isMissing = reasoning === 'always' && !REASONING_FIELDS.some((field) => field in own);
  return {
    fields: isMissing ? { reasoning_content: '', ...own } : own,
    calls: item?.calls ?? (signatures ? Array.from({ length: calls }, () => FOREIGN_CALL) : []),
  };
}

function isOwn({ provider, model }: Target, origin: WireOrigin | undefined): boolean {
  return origin?.api === 'chat' && origin.provider === provider && familyOf(origin.model) === familyOf(model);
}

/** The name without its version: `anthropic/claude` of `anthropic/claude-opus-5.5`. */
function familyOf(model: string): string {
  return /^(?:[^/]*\/)*[a-z]*/i.exec(model)?.[0].toLowerCase() ?? model;
}

/** OpenRouter wants its details back; the text is in them. */
function fieldsOf({ calls: _, ...fields }: ChatItem): Readonly<Record<string, unknown>> {
  if (fields.reasoning_details === undefined) return fields;
  return { reasoning_details: fields.reasoning_details };
}

/** Only fields of the right type: a log can be forged. */
function readItem(item: unknown): ChatItem {
  if (typeof item !== 'object' || item === null) return {};
  const given = item as Readonly<Record<string, unknown>>;
  const texts = [...REASONING_FIELDS, 'reasoning_opaque'].filter((field) => typeof given[field] === 'string');
  const lists = ['reasoning_details', 'thinking_blocks', 'calls'].filter((field) => Array.isArray(given[field]));
  return Object.fromEntries([...texts, ...lists].map((field) => [field, given[field]]));
}

type Detail = Readonly<Record<string, unknown>>;

/** Fields whose pieces are joined; of others the last value counts. */
const JOINED = ['text', 'summary', 'thinking'] as const;

/**
 * Merges streamed pieces of a list: consecutive pieces of the same type and index are one entry. Encrypted entries are
 * sent whole.
 */
export function mergeDetails(known: Detail[], pieces: unknown): void {
  if (!Array.isArray(pieces)) return;
  for (const piece of pieces as unknown[]) {
    if (typeof piece !== 'object' || piece === null) continue;
    const next = piece as Detail;
    const last = known.at(-1);
    if (last === undefined || !continues(last, next)) known.push(next);
    else known[known.length - 1] = joinedDetail(last, next);
  }
}

function continues(last: Detail, next: Detail): boolean {
  if (last['type'] !== next['type'] || last['index'] !== next['index']) return false;
  const isText = JOINED.some((field) => typeof next[field] === 'string') || 'signature' in next;
  // Without an index, a signature ends an entry.
  const isEnded = next['index'] === undefined && typeof last['signature'] === 'string' && last['signature'] !== '';
  return isText && !isEnded && !('data' in next);
}

function joinedDetail(last: Detail, next: Detail): Detail {
  const joined: Record<string, unknown> = { ...last };
  for (const [field, value] of Object.entries(next)) {
    const before = joined[field];
    const joins = (JOINED as readonly string[]).includes(field);
    if (joins && typeof before === 'string' && typeof value === 'string') joined[field] = before + value;
    else if (value !== null && value !== undefined && value !== '') joined[field] = value;
  }
  return joined;
}
