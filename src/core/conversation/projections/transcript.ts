// Projects the log to the items of the chat, each event once.
import { defined } from '../../../base/json/defined.ts';
import { type Attachment, type Carried, type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Level, worseLevel } from '../../../protocol/notification.ts';
import { type CarriedView, type ToolState, type TranscriptItem } from '../../../protocol/transcript.ts';
import { failureText } from '../../../base/failureTexts.ts';
import { attachmentName, imagesIn } from '../attachments.ts';
import { failureAction } from '../failureActions.ts';
import { labelNotification } from '../notificationLabel.ts';
import { estimateTokens } from '../tokens.ts';
import { type Pending } from './pending.ts';

/** Finds pending notifications and queued messages by id. */
type PendingLookup = Pick<Pending, 'get' | 'queuedMessage'>;

type ItemOf<T extends TranscriptItem['type']> = Extract<TranscriptItem, { type: T }>;

export class Transcript {
  readonly #items = new Map<string, TranscriptItem>();
  /** Items of carriers that no successful model call has contained yet. */
  /** Paths that a notice has named as not captured. */
  readonly #namedLeftOut = new Set<string>();
  #unaccepted: string[] = [];
  /** Calls of the open turn without a result. */
  readonly #running = new Map<string, number>();
  /** Calls of the open turn that were approved, by anybody. */
  readonly #approved = new Set<string>();
  #isSubagent = false;

  get items(): readonly TranscriptItem[] {
    return [...this.#items.values()];
  }

  /**
   * Returns the items that this event added or changed. Must run before `Pending.fold`, so that `pending` still finds
   * what a carrier delivers.
   */
  fold(event: LogEvent, pending: PendingLookup): readonly TranscriptItem[] {
    switch (event.type) {
      case 'conversation_started':
        this.#isSubagent = event.subagent !== undefined;
        return [];
      case 'chat_request':
        return [this.#request(event, pending)];
      case 'handle_started':
        return this.#handle(event);
      case 'chat_response':
        return this.#answer(event);
      case 'tool_call_request':
        this.#running.set(event.id, Date.parse(event.timestamp));
        return [this.#set({ ...blankTool, id: event.id, name: event.name, arguments: event.arguments })];
      case 'approval':
        return this.#approval(event);
      case 'inquiry_request':
        return this.#question(event);
      case 'inquiry_response':
        return this.#questionAnswered(event);
      case 'tool_call_response':
        return this.#response(event, pending);
      case 'model_call':
        return event.outcome === 'succeeded' && event.purpose === undefined ? this.#accept() : [];
      case 'checkpoint_taken':
        return this.#checkpoint(event);
      case 'changes_reviewed':
        return this.#reviewed(event);
      case 'turn_ended':
        return this.#turnEnded(event);
      default:
        return [];
    }
  }

  #set(item: TranscriptItem): TranscriptItem {
    this.#items.set(item.id, item);
    return item;
  }

  #tool(id: string): ItemOf<'tool'> | undefined {
    const item = this.#items.get(id);
    return item?.type === 'tool' ? item : undefined;
  }

  #request(event: EventOf<'chat_request'>, pending: PendingLookup): TranscriptItem {
    const { event_id: id, source, forced } = event;
    const byAgent = this.#isSubagent && this.#items.size === 0;
    const attached = shownAttachments(event.attachments);
    const how = { ...defined({ forced }), ...(byAgent && { byAgent: true as const }) };
    const item = { type: 'request', id, source, ...shownText(event), ...how, ...attached } as const;
    return this.#set(this.#withCarried(item, event.notifications, pending));
  }

  #answer(event: EventOf<'chat_response'>): readonly TranscriptItem[] {
    const text = event.message ?? '';
    const reasoning = event.reasoning ?? '';
    if (text === '' && reasoning === '') return [];
    const truncated = event.truncated ?? false;
    return [this.#set({ type: 'answer', id: event.event_id, text, reasoning, streaming: false, truncated })];
  }

  /** The card of a call that started a subagent links to it. */
  #handle({ agent, tool_call_id: call }: EventOf<'handle_started'>): readonly TranscriptItem[] {
    const tool = agent === undefined ? undefined : this.#tool(call);
    return tool === undefined || agent === undefined ? [] : [this.#set({ ...tool, agent: agent.conversation })];
  }

  #approval(event: EventOf<'approval'>): readonly TranscriptItem[] {
    const tool = this.#tool(event.tool_call_id);
    if (tool === undefined) return [];
    this.#running.set(tool.id, Date.parse(event.timestamp));
    if (event.action !== 'reject') this.#approved.add(tool.id);
    const state: ToolState = event.action === 'reject' ? 'rejected' : 'running';
    return [this.#set({ ...tool, state, arguments: event.arguments ?? tool.arguments, ...answeredBy(event) })];
  }

  #question(event: EventOf<'inquiry_request'>): readonly TranscriptItem[] {
    const tool = event.tool_call_id === undefined ? undefined : this.#tool(event.tool_call_id);
    if (tool === undefined) return [];
    const { id, question: text, options, several = false, fields } = event;
    const offered = defined({ options, fields });
    return [this.#set({ ...tool, question: { id, text, several, ...offered } })];
  }

  #questionAnswered(event: EventOf<'inquiry_response'>): readonly TranscriptItem[] {
    // Only a running call can have an open question.
    const tools = [...this.#running.keys()].flatMap((id) => this.#tool(id) ?? []);
    const tool = tools.find(({ question }) => question?.id === event.id);
    if (tool?.question === undefined) return [];
    return [this.#set({ ...tool, question: { ...tool.question, answer: event.answer }, ...answeredBy(event) })];
  }

  #response(event: EventOf<'tool_call_response'>, pending: PendingLookup): readonly TranscriptItem[] {
    const tool = this.#tool(event.id);
    const started = this.#running.get(event.id);
    this.#running.delete(event.id);
    if (tool === undefined) return [];
    const { changes, media } = event;
    const failure = failureText(event.failure);
    const done = {
      ...tool,
      state: endState(tool.state, event, this.#approved.delete(event.id)),
      output: event.content,
      ...(started !== undefined && { milliseconds: Math.max(0, Date.parse(event.timestamp) - started) }),
      ...defined({ failure, changes, media }),
    };
    return [this.#set(this.#withCarried(done, event.notifications, pending)), ...this.#meanwhile(event, pending)];
  }

  /** Queued messages are shown where the model reads them: after the result that carried them. */
  #meanwhile({ notifications }: EventOf<'tool_call_response'>, pending: PendingLookup): TranscriptItem[] {
    return (notifications?.user_text ?? []).flatMap((id) => {
      const message = pending.queuedMessage(id);
      if (message === undefined) return [];
      return [
        this.#set({
          ...{ type: 'request', id, source: 'user', meanwhile: true },
          ...shownText(message),
          ...shownAttachments(message.attachments),
        }),
      ];
    });
  }

  #withCarried<T extends ItemOf<'request'> | ItemOf<'tool'>>(
    item: T,
    carried: Carried | undefined,
    pending: PendingLookup,
  ): T {
    if (carried === undefined || printCarried(carried) === '') return item;
    this.#unaccepted.push(item.id);
    return { ...item, carried: viewCarried(carried, pending) };
  }

  #accept(): readonly TranscriptItem[] {
    const ids = this.#unaccepted;
    this.#unaccepted = [];
    return ids.flatMap((id) => {
      const item = this.#items.get(id);
      if (item === undefined || !('carried' in item)) return [];
      return [this.#set({ ...item, carried: { ...item.carried, receipt: 'accepted' } })];
    });
  }

  /** Without a checkpoint the changes of the command cannot be undone; the user is warned before it is needed. */
  #checkpoint(event: EventOf<'checkpoint_taken'>): readonly TranscriptItem[] {
    const { event_id: id, reason, failure } = event;
    if (failure === undefined) return this.#leftOut(event);
    if (reason === 'turn') return [];
    const text = `${failure.message} Changes made by this command cannot be undone.`;
    const { nextStep } = failure;
    return [this.#set({ type: 'notice', id, level: 'warning', text, ...defined({ nextStep }) })];
  }

  /** Files and folders that are not in a checkpoint are named once. */
  #leftOut({ event_id: id, left_out_paths: paths = [] }: EventOf<'checkpoint_taken'>): readonly TranscriptItem[] {
    const added = paths.filter((path) => !this.#namedLeftOut.has(path));
    if (added.length === 0) return [];
    for (const path of added) this.#namedLeftOut.add(path);
    const text = `Not captured, so changes by commands there cannot be undone: ${listPaths(added)}.`;
    return [this.#set({ type: 'notice', id, level: 'warning', text })];
  }

  /** The notice of an undo or restore has an action that reverts it. */
  #reviewed(event: EventOf<'changes_reviewed'>): readonly TranscriptItem[] {
    const names = listPaths(event.files.map(({ path }) => path));
    switch (event.action) {
      case 'keep':
        return [];
      case 'revert':
      case 'bring_back': {
        const before = this.#items.get(event.of ?? '');
        if (before?.type !== 'notice') return [];
        const { action: _, ...notice } = before;
        return [this.#set({ ...notice, text: `${notice.text} Reverted.` })];
      }
      case 'undo':
      case 'restore': {
        const text = event.action === 'undo' ? `You undid changes in ${names}.` : `You restored ${names}.`;
        const message = { type: 'revert', decision: event.event_id } as const;
        const action = { label: 'Revert', message };
        return [this.#set({ type: 'notice', id: event.event_id, level: 'info', text, action })];
      }
    }
  }

  #turnEnded(event: EventOf<'turn_ended'>): readonly TranscriptItem[] {
    return [...this.#lost(), ...this.#end(event)];
  }

  /** Calls whose results are missing from a damaged log must not be shown as running. */
  #lost(): readonly TranscriptItem[] {
    const ids = [...this.#running.keys()];
    this.#running.clear();
    return ids.flatMap((id) => {
      const tool = this.#tool(id);
      return tool === undefined ? [] : [this.#set({ ...tool, state: 'interrupted' })];
    });
  }

  #end(event: EventOf<'turn_ended'>): readonly TranscriptItem[] {
    const notice = { type: 'notice', id: event.event_id } as const;
    if (event.outcome === 'stopped') return [this.#set({ ...notice, level: 'info', text: 'Stopped.' })];
    if (event.outcome === 'done') return [];
    const { message, nextStep } = event.failure ?? { message: 'The turn ended with an error.' };
    const action = failureAction(event.failure ?? { code: 'bug' });
    const failure = failureText(event.failure?.code);
    return [
      this.#set({
        ...notice,
        level: 'error',
        text: message,
        ...defined({ failure, nextStep }),
        action,
      }),
    ];
  }
}

const LISTED = 3;

function listPaths(names: readonly string[]): string {
  const more = names.length - LISTED;
  return more > 0 ? `${names.slice(0, LISTED).join(', ')} and ${more} more` : names.join(', ');
}

/** Set if a front end other than the chat answered. */
function answeredBy({ by, program }: Pick<EventOf<'approval'>, 'by' | 'program'>) {
  return by === 'user' || by === 'policy' ? {} : { answeredBy: by, ...defined({ answeredProgram: program }) };
}

/** The log does not say whether a call waits for an approval; only the front end that was asked can tell. */
const blankTool = { type: 'tool', state: 'running', output: '' } as const;

export const INTERRUPTED = 'Interrupted; may have run.';
/** The whole result of a call that was cancelled before it could answer. */
export const CANCELLED = 'Cancelled by the user.';

function endState(before: ToolState, event: EventOf<'tool_call_response'>, approved: boolean): ToolState {
  if (before === 'rejected') return 'rejected';
  if (event.is_error && event.content === CANCELLED && !approved) return 'not_run';
  if (event.content.startsWith(INTERRUPTED) && event.is_error) return 'interrupted';
  return event.is_error ? 'failed' : 'done';
}

/** What the user typed; the text of a prompt file or skill is shown separately. */
function shownText({ content, typed }: { readonly content: string; readonly typed?: string | undefined }) {
  return typed === undefined ? { text: content } : { text: typed, expanded: content };
}

function shownAttachments(attachments: readonly Attachment[] = []) {
  const names = attachments.filter(({ type }) => type !== 'image').map(attachmentName);
  const images = imagesIn(attachments).map(({ hash, mediaType, name }) => ({ hash, media_type: mediaType, name }));
  return { ...(names.length > 0 && { attachments: names }), ...(images.length > 0 && { images }) };
}

function viewCarried(carried: Carried, pending: PendingLookup): CarriedView {
  const shown = carried.shown.flatMap((id) => pending.get(id) ?? []);
  const worst = shown.reduce<Level>((level, next) => worseLevel(level, next.level), 'info');
  const text = printCarried(carried);
  return {
    text,
    shown: carried.shown.length,
    total: carried.shown.length + carried.merged.length + carried.counted.length,
    worst,
    labels: shown.map(labelNotification),
    tokens: estimateTokens(text),
    receipt: 'carried',
    texts: carried.user_text.length,
  };
}

/** Exactly the texts that the model got, in their order. */
function printCarried({ text, user = [] }: Carried): string {
  return [text, ...user].filter((part) => part !== '').join('\n\n');
}
