// Maps messages to those of the Messages API. Pure.
import {
  type BetaContentBlockParam,
  type BetaImageBlockParam,
  type BetaMessageParam,
  type BetaTextBlockParam,
  type BetaToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/beta/messages';
import { type Block, type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ClaudeEffort } from './claude.ts';
import { argumentsOf, callId, callName, wellFormed } from '../wire/callIds.ts';
import { describeMissing, type ImageBytes } from '../wire/images.ts';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type UserMessage = Extract<ModelMessage, { role: 'user' }>;
type ToolResultPart = Exclude<NonNullable<BetaToolResultBlockParam['content']>, string>[number];

/** What an answer's items may begin with besides the API's own: a text that was added to get an answer at all. */
interface AddedText {
  readonly type: 'user_text';
  readonly text: string;
}

/** The effort that the answer was requested with, if it differs from that of the answer before, or from the default. */
export interface EffortMark {
  readonly type: 'effort';
  readonly effort: ClaudeEffort;
}

/** The id of the answer, by which the endpoint says why a later request cannot be read from its cache. */
export interface IdMark {
  readonly type: 'message_id';
  readonly id: string;
}

const MARKS: readonly unknown[] = ['message_id', 'user_text', 'effort'];

/** Inserted where the API requires a message of the user. */
const OPENING = 'Go on from here.';
/** Introduces the images of a failed call, whose result may only have text. */
const IMAGES_ABOVE = 'Images of the result above:';

export interface MessagesContext {
  readonly provider: string;
  /** Absent: the endpoint takes no images. */
  readonly images: ImageBytes | undefined;
  readonly systemMessages: boolean;
  /** Names of tools that results refer to. */
  readonly references: ReadonlySet<string>;
  /** Answers whose thinking the endpoint has refused. */
  readonly refused: WeakSet<ModelMessage>;
  /** Thinking must have a signature. */
  readonly signed: boolean;
  /** Answers before which the effort changes, and to what. */
  readonly efforts: ReadonlyMap<ModelMessage, ClaudeEffort>;
}

/** Leaves out answers that the API would refuse because they are empty. */
export function withoutEmpty(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const isEmpty = (message: ModelMessage) =>
    message.role === 'assistant' && message.calls.length === 0 && message.content.trim() === '';
  return messages.some(isEmpty) ? messages.filter((message) => !isEmpty(message)) : messages;
}

/** `messages` is the whole conversation; the messages from `from` to `to` are mapped. */
export function toMessages(
  messages: readonly ModelMessage[],
  [from, to]: readonly [number, number],
  context: MessagesContext,
): BetaMessageParam[] {
  if (from >= to) return [];
  const mapped: BetaMessageParam[] = [];
  let turn = new UserTurn();
  for (let index = from; index < to; index += 1) {
    const message = messages[index];
    if (message === undefined) continue;
    if (message.role !== 'assistant') {
      turn.add(message, context);
      continue;
    }
    // The part before this one ends with the user's turn.
    if (index > from || index === 0) {
      // The first message must be the user's, and an answer must answer something.
      if (index === 0 || messages[index - 1]?.role === 'assistant') turn.say(OPENING);
      mapped.push(...turn.end(addedTo(message), context.efforts.get(message)));
    }
    mapped.push({ role: 'assistant', content: toAnswer(message, context) });
    turn = new UserTurn();
  }
  const next = messages[to];
  if (messages[to - 1]?.role === 'assistant') turn.say(OPENING);
  return [...mapped, ...(next?.role === 'assistant' ? turn.end(addedTo(next), context.efforts.get(next)) : turn.end())];
}

/** Everything between two answers: one message of the user, and one with the host's notifications. */
class UserTurn {
  readonly #results: BetaToolResultBlockParam[] = [];
  readonly #after: BetaContentBlockParam[] = [];
  readonly #system: BetaTextBlockParam[] = [];

  add(message: UserMessage | ToolMessage, context: MessagesContext): void {
    const { block, queued = [], images = [] } = message;
    const apart = context.systemMessages && block?.format === 'developer';
    if (apart) this.#system.push(textBlock(block.text));
    const inside = apart ? undefined : block;
    if (message.role === 'tool') {
      this.#results.push(toResult(message, inside, context));
      if (message.failed === true && message.resultImages !== undefined) {
        this.#after.push(
          textBlock(IMAGES_ABOVE),
          ...message.resultImages.map((image) => toImage(image, context.images)),
        );
      }
    } else {
      if (inside !== undefined) this.say(inside.text);
      this.say(message.content);
    }
    for (const text of queued) this.say(text);
    this.#after.push(...images.map((image) => toImage(image, context.images)));
  }

  say(text: string): void {
    if (text.trim() !== '') this.#after.push(textBlock(text));
  }

  end(added?: string, effort?: ClaudeEffort): BetaMessageParam[] {
    if (added !== undefined) this.say(added);
    const content = [...this.#results, ...this.#after];
    // A message of spaces is left out, but something must be answered.
    const user: BetaMessageParam = { role: 'user', content: content.length === 0 ? [textBlock(OPENING)] : content };
    const system = {
      ...(this.#system.length > 0 && { content: this.#system }),
      ...(effort !== undefined && { output_config: { effort } }),
    };
    return Object.keys(system).length === 0 ? [user] : [user, { role: 'system', ...system }];
  }
}

function toResult(
  { call, content, failed, resultImages = [], found = [] }: ToolMessage,
  block: Block | undefined,
  { images, references }: MessagesContext,
): BetaToolResultBlockParam {
  const notified = block === undefined ? [] : [textBlock(block.text)];
  const referred = failed === true ? [] : found.filter((name) => references.has(name));
  const parts: ToolResultPart[] = [
    ...(block?.format === 'markdown' ? notified : []),
    ...(content.trim() === '' ? [] : [textBlock(content)]),
    ...(failed === true ? [] : resultImages.map((image) => toImage(image, images))),
    ...referred.map((name) => ({ type: 'tool_reference' as const, tool_name: name })),
    ...(block?.format === 'markdown' ? [] : notified),
  ];
  const [first] = parts;
  const isPlain = parts.length <= 1 && (first === undefined || first.type === 'text');
  return {
    type: 'tool_result',
    tool_use_id: callId(call),
    content: isPlain ? (first?.type === 'text' ? first.text : '') : parts,
    ...(failed === true && { is_error: true }),
  };
}

function toAnswer(message: AssistantMessage, context: MessagesContext): BetaContentBlockParam[] {
  return resent(message, context) ?? neutral(message);
}

/** The answer as the API returned it. Undefined if it must be written anew. */
function resent(message: AssistantMessage, context: MessagesContext): BetaContentBlockParam[] | undefined {
  const { origin, calls } = message;
  if (origin?.api !== 'messages' || origin.provider !== context.provider) return undefined;
  // The API returns empty texts, but refuses them.
  const blocks = (origin.items as readonly LooseBlock[]).filter(
    ({ type, text }) => !MARKS.includes(type) && (type !== 'text' || text !== ''),
  );
  const made = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  // Core gives a call a new id if the model has used it before.
  if (made.length !== calls.length || calls.some(({ id }, index) => id !== made[index])) return undefined;
  const kept = blocks.filter(
    (block) => !isThinking(block) || (!context.refused.has(message) && isSigned(block, context)),
  );
  // Thinking alone is no answer. Results name calls by ids that every server accepts.
  const named = kept.map((block) => (block.type === 'tool_use' ? { ...block, id: callId(String(block.id)) } : block));
  return kept.every(isThinking) ? undefined : (named as unknown as BetaContentBlockParam[]);
}

interface LooseBlock {
  readonly type?: unknown;
  readonly id?: unknown;
  readonly text?: unknown;
  readonly signature?: unknown;
}

function isThinking({ type }: LooseBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function isSigned({ type, signature }: LooseBlock, { signed }: MessagesContext): boolean {
  return !signed || type === 'redacted_thinking' || (typeof signature === 'string' && signature !== '');
}

function addedTo({ origin }: AssistantMessage): string | undefined {
  return marksOf(origin).find((mark) => mark.type === 'user_text')?.text;
}

export function effortOf({ origin }: AssistantMessage): ClaudeEffort | undefined {
  return marksOf(origin).find((mark) => mark.type === 'effort')?.effort;
}

export function messageIdOf({ origin }: AssistantMessage): string | undefined {
  return marksOf(origin).find((mark) => mark.type === 'message_id')?.id;
}

function marksOf(origin: AssistantMessage['origin']): readonly (AddedText | EffortMark | IdMark)[] {
  const [first] = (origin?.api === 'messages' ? origin.items : []) as readonly (LooseBlock | undefined)[];
  if (origin === undefined || first === undefined || !MARKS.includes(first.type)) return [];
  return (origin.items.slice(0, MARKS.length) as LooseBlock[]).filter(({ type }) =>
    MARKS.includes(type),
  ) as unknown as (AddedText | EffortMark | IdMark)[];
}

export function addedText(text: string): AddedText {
  return { type: 'user_text', text };
}

function neutral({ content, calls }: AssistantMessage): BetaContentBlockParam[] {
  return [
    ...(content.trim() === '' ? [] : [textBlock(content)]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'tool_use' as const,
      id: callId(id),
      name: callName(name),
      input: argumentsOf(args) ?? { INVALID_JSON: args },
    })),
  ];
}

function textBlock(text: string): BetaTextBlockParam {
  return { type: 'text', text: wellFormed(text) };
}

function toImage(image: ImageReference, images: ImageBytes | undefined): BetaImageBlockParam | BetaTextBlockParam {
  const data = images?.get(image.hash);
  if (data === undefined) return textBlock(describeMissing(image, images));
  const media = image.mediaType as 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  return { type: 'image', source: { type: 'base64', media_type: media, data } };
}

const EPHEMERAL = { type: 'ephemeral' } as const;

/** Marks the ends of the last two messages that are not answers: the endpoint caches everything up to there. */
export function withBreakpoints(messages: readonly BetaMessageParam[]): BetaMessageParam[] {
  // A system message directly after the user's belongs to it; one that only changes the effort cannot be marked.
  const isText = (message: BetaMessageParam | undefined) =>
    message !== undefined && message.role !== 'assistant' && message.content !== undefined;
  const ends = messages.flatMap((message, index) => (isText(message) && !isText(messages[index + 1]) ? [index] : []));
  const marked = new Set(ends.slice(-2));
  return messages.map((message, index) => {
    const { content } = message;
    if (!marked.has(index) || !Array.isArray(content)) return message;
    const blocks = content.map((block, at) =>
      at === content.length - 1 ? { ...block, cache_control: EPHEMERAL } : block,
    );
    return { ...message, content: blocks } as BetaMessageParam;
  });
}
