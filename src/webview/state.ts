// The page's state as a pure reducer over the host's messages. A gap in the numbers requests a new snapshot.
import { unreachable } from '../base/errors.ts';
import type { CompletionsMessage } from '../protocol/page/completionsView.ts';
import type { ContextView } from '../protocol/page/controlsView.ts';
import type { ConversationsMessage } from '../protocol/page/conversationsView.ts';
import type { TranscriptItem } from '../protocol/transcript.ts';
import type { Change, ChatHead, ToPage } from '../protocol/webview.ts';
import { appendTo, type Chunked, chunked, removeAt, replaceAt, valueAt } from './chunked.ts';
import { type Growing, grow, growing, wholeText } from './growing.ts';
import { describeAutomatic } from './strings/notificationStrings.ts';
import { strings } from './strings/strings.ts';
import { spokenText } from './render/markdown/spokenText.ts';
import { toolTitle } from './toolTitle.ts';

type ItemOf<T extends TranscriptItem['type']> = Extract<TranscriptItem, { type: T }>;
export type RequestItem = ItemOf<'request'>;
export type NoticeItem = ItemOf<'notice'>;
export type AnswerItem = Omit<ItemOf<'answer'>, 'text' | 'reasoning'> & {
  readonly text: Growing;
  readonly reasoning: Growing;
};
export type ToolItem = Omit<ItemOf<'tool'>, 'output'> & { readonly output: Growing };
export type PageItem = RequestItem | AnswerItem | ToolItem | NoticeItem;

export interface PageState {
  /** `waiting`: deltas are ignored until the next snapshot. */
  readonly connection: 'waiting' | 'live';
  /** Number of snapshots requested; the owner of the connection posts `ready` when it increases. */
  readonly snapshotRequests: number;
  readonly number: number;
  /** Null before the first snapshot. */
  readonly head: ChatHead | null;
  readonly items: Chunked<PageItem>;
  /**
   * The position of each id. Shared with later states while items are only added, so a position is valid only if
   * the item there has the id.
   */
  readonly places: Map<string, number>;
  /** Announced once to screen readers: whole answers and approvals, never pieces of a stream. */
  readonly announcement: { readonly serial: number; readonly text: string };
  readonly focusRequests: number;
  /** An item of the transcript that the host asked to show; a new object each time. */
  readonly wanted: { readonly item: string } | null;
  /** How often the host passed on the key for *Approve*. */
  readonly approveRequests: number;
  /** How often the host asked to show the list of conversations. */
  readonly listRequests: number;
  /** The newest answer to `list_conversations`. */
  readonly conversations: ConversationsMessage | null;
  /** The newest answer to `list_prompts`. */
  readonly prompts: readonly string[];
  /** The newest answer to `complete`. */
  readonly completions: CompletionsMessage | null;
  /** The newest answer to `read_context`; undefined before the first. */
  readonly context: ContextView | null | undefined;
  /** The newest answer to `read_freshness` about the shown conversation. */
  readonly freshness: Extract<ToPage, { type: 'freshness' }> | undefined;
  /** The text that the composer must show from now on; the serial grows with each. */
  readonly draft: { readonly serial: number; readonly text: string };
  /** All texts returned so far, oldest first, with the draft that was shown; the composer inserts each once. */
  readonly returned: readonly { readonly text: string; readonly serial: number }[];
}

export const initialState: PageState = {
  connection: 'waiting',
  snapshotRequests: 1,
  number: 0,
  head: null,
  items: chunked(),
  places: new Map(),
  announcement: { serial: 0, text: '' },
  focusRequests: 0,
  wanted: null,
  approveRequests: 0,
  listRequests: 0,
  conversations: null,
  prompts: [],
  completions: null,
  context: undefined,
  freshness: undefined,
  draft: { serial: 0, text: '' },
  returned: [],
};

export function reduce(state: PageState, message: ToPage): PageState {
  switch (message.type) {
    case 'snapshot': {
      const { items, ...head } = message.state;
      return {
        ...state,
        connection: 'live',
        number: message.number,
        head,
        freshness: state.head?.conversation === head.conversation ? state.freshness : undefined,
        draft: draftIn(state, head),
        items: chunked(items.map(toPageItem)),
        places: new Map(items.map((item, place) => [item.id, place])),
      };
    }
    case 'delta': {
      if (state.connection === 'waiting') return state;
      if (message.number !== state.number + 1) return requestSnapshot(state);
      let next: PageState = { ...state, number: message.number };
      for (const change of message.changes) {
        next = apply(next, change);
        if (next.connection === 'waiting') return next;
      }
      return next;
    }
    case 'show_conversations':
      return { ...state, listRequests: state.listRequests + 1 };
    case 'conversations':
      return { ...state, conversations: message };
    case 'prompts':
      return { ...state, prompts: message.texts };
    case 'completions':
      return { ...state, completions: message };
    case 'context':
      return { ...state, context: message.context };
    case 'freshness':
      return { ...state, freshness: message };
    // Handled outside the state.
    case 'sound':
    case 'diff':
    case 'media':
      return state;
    case 'show_item':
      return { ...state, wanted: { item: message.item } };
    case 'focus_composer':
      return { ...state, focusRequests: state.focusRequests + 1 };
    case 'approve_first':
      return { ...state, approveRequests: state.approveRequests + 1 };
    case 'restore_draft':
      return { ...state, returned: [...state.returned, { text: message.text, serial: state.draft.serial }] };
    default:
      return unreachable(message);
  }
}

/** Another conversation brings its own draft, unless the typed text already belongs to it. */
function draftIn({ head: before, draft }: PageState, head: ChatHead): PageState['draft'] {
  if (before !== null && (before.conversation === head.conversation || head.draft === null)) return draft;
  return { serial: draft.serial + 1, text: head.draft ?? '' };
}

function requestSnapshot(state: PageState): PageState {
  return { ...state, connection: 'waiting', snapshotRequests: state.snapshotRequests + 1 };
}

function apply(state: PageState, change: Change): PageState {
  switch (change.type) {
    case 'head':
      return state.head === null ? state : { ...state, head: { ...state.head, ...change.head } };
    case 'item': {
      const item = toPageItem(change.item);
      const place = placeOf(state, item.id);
      const before = place === undefined ? undefined : valueAt(state.items, place);
      const announced = announce(state, before, item);
      if (place !== undefined) return { ...announced, items: replaceAt(state.items, place, item) };
      state.places.set(item.id, state.items.length);
      return { ...announced, items: appendTo(state.items, [item]) };
    }
    case 'text': {
      const place = placeOf(state, change.id);
      const item = place === undefined ? undefined : valueAt(state.items, place);
      const grown = item && withMoreText(item, change.field, change.text);
      if (place === undefined || grown === undefined) return requestSnapshot(state);
      return { ...state, items: replaceAt(state.items, place, grown) };
    }
    case 'removed': {
      const place = placeOf(state, change.id);
      if (place === undefined) return state;
      const items = removeAt(state.items, place);
      return { ...state, items, places: new Map(items.chunks.flat().map((item, index) => [item.id, index])) };
    }
    default:
      return unreachable(change);
  }
}

export function itemById(state: PageState, id: string): PageItem | undefined {
  const place = placeOf(state, id);
  return place === undefined ? undefined : valueAt(state.items, place);
}

function placeOf(state: PageState, id: string): number | undefined {
  const place = state.places.get(id);
  return place !== undefined && valueAt(state.items, place)?.id === id ? place : undefined;
}

function toPageItem(item: TranscriptItem): PageItem {
  switch (item.type) {
    case 'answer':
      return { ...item, text: growing(item.text), reasoning: growing(item.reasoning) };
    case 'tool':
      return { ...item, output: growing(item.output) };
    case 'request':
    case 'notice':
      return item;
    default:
      return unreachable(item);
  }
}

function withMoreText(item: PageItem, field: 'text' | 'reasoning' | 'output', text: string): PageItem | undefined {
  if (item.type === 'answer' && field !== 'output') return { ...item, [field]: grow(item[field], text) };
  if (item.type === 'tool' && field === 'output') return { ...item, output: grow(item.output, text) };
  return undefined;
}

function announce(state: PageState, before: PageItem | undefined, item: PageItem): PageState {
  const text = announcementFor(before, item);
  return text === undefined ? state : { ...state, announcement: { serial: state.announcement.serial + 1, text } };
}

function announcementFor(before: PageItem | undefined, item: PageItem): string | undefined {
  switch (item.type) {
    case 'answer': {
      const ended = !item.streaming && (before?.type !== 'answer' || before.streaming);
      return ended && item.text.length > 0 ? strings.announceAnswer(spokenText(wholeText(item.text))) : undefined;
    }
    case 'tool': {
      const opened = before?.type !== 'tool' || before.state !== item.state;
      if (opened && item.state === 'question') return strings.announceQuestion(spokenText(item.question?.text ?? ''));
      const asks = opened && item.state === 'approval';
      return asks ? strings.announceApproval(toolTitle(item.name, item.arguments)) : undefined;
    }
    case 'notice':
      return before === undefined ? [item.text, item.nextStep ?? ''].join(' ').trim() : undefined;
    case 'request':
      return before === undefined && item.source === 'system'
        ? describeAutomatic(item.forced === true, item.carried?.labels)
        : undefined;
    default:
      return unreachable(item);
  }
}
