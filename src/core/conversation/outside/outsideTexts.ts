// Projects which texts from outside the conversation received and where the transcript shows them; and what was known
// before or otherwise: the user's texts, files of the workspace, and calls. It refers to the texts of the events, which
// the transcript keeps too.
import { type Attachment, type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification, type ORIGINS } from '../../../protocol/notification.ts';
import { type TextSource } from '../../../protocol/page/textOrigin.ts';
import { handleInScope, nameOfSubject } from '../../../protocol/scopes.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { labelNotification } from '../notificationLabel.ts';

export interface OutsideText {
  readonly text: string;
  readonly source: TextSource;
  /** The item of the transcript that shows it. */
  readonly item: string;
  /** The number of the call that returned it or came with it. */
  readonly call?: number | undefined;
  /** Which of two texts came first, also in different conversations. */
  readonly order: number;
}

/** Texts that do not come from outside, if they were there before what came from there. */
export interface OwnTexts {
  /** A text, or any JSON value with texts. */
  readonly values: unknown;
  /** FROM_THE_BEGINNING: at any time. */
  readonly order: number;
}

export const FROM_THE_BEGINNING = 0;
const EVENTS_OF_ONE_MILLISECOND = 4096;

/** Origins of notifications with texts of the workspace, of the editor and of Earshot itself only. */
const INSIDE: ReadonlySet<(typeof ORIGINS)[number]> = new Set(['editor', 'filesystem', 'language-server', 'host']);
/** Kinds with text of others whose origin does not say so, and without it although their origin does. */
const EXCEPTIONS: Readonly<Record<string, 'outside' | 'inside'>> = { git: 'outside', task: 'inside' };

type Response = EventOf<'tool_call_response'>;
type Find = (id: string) => Notification | undefined;

interface Call {
  readonly name: string;
  readonly number: number;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export class OutsideTexts {
  readonly #tools: KnownTools | undefined;
  readonly #received: OutsideText[] = [];
  readonly #own: OwnTexts[] = [];
  readonly #files: { readonly text: string; readonly paths: readonly string[] }[] = [];
  /** Files that calls may have changed after something came from outside: they may have its words. */
  readonly #changed = new Set<string>();
  readonly #calls = new Map<string, Call>();
  /** By handle, the call that started it, and where its output comes from if that is outside. */
  readonly #handles = new Map<
    string,
    { readonly call: string; readonly isAgent: boolean; source?: TextSource | undefined }
  >();
  /** The servers of the tools that requests offered; after a restart they are not connected yet. */
  readonly #servers = new Map<string, string>();
  readonly #agents: string[] = [];
  #parent: string | undefined;
  #hasRequest = false;

  constructor(tools?: KnownTools) {
    this.#tools = tools;
  }

  /** Oldest first. */
  get received(): readonly OutsideText[] {
    return this.#received;
  }

  /** `others`: files that other conversations may have filled with text from outside. */
  own(others: ReadonlySet<string>): readonly OwnTexts[] {
    const files = this.#files.filter(({ paths }) => !paths.some((path) => others.has(path)));
    return [...this.#own, ...files.map(({ text }) => ({ values: text, order: FROM_THE_BEGINNING }))];
  }

  get changed(): ReadonlySet<string> {
    return this.#changed;
  }

  /** The conversations of its subagents. */
  get agents(): readonly string[] {
    return this.#agents;
  }

  /** The conversation that started this one as a subagent. */
  get parent(): string | undefined {
    return this.#parent;
  }

  /** Must run before `Pending.fold`, so that `find` still finds what a carrier delivers. */
  fold(event: LogEvent, find: Find): void {
    switch (event.type) {
      case 'conversation_started':
        this.#parent = event.subagent?.parent;
        return;
      case 'config_used':
        for (const { name, tools } of event.servers ?? []) {
          for (const tool of Object.keys(tools)) this.#servers.set(tool, name);
        }
        return;
      case 'chat_request':
        return this.#request(event, find);
      case 'user_text_queued':
        return this.#ofUser(event);
      case 'inquiry_response':
        return this.#add(event.by === 'user' ? event.answer : [], FROM_THE_BEGINNING);
      case 'approval':
        return this.#add(event.by === 'user' ? (event.arguments ?? []) : [], FROM_THE_BEGINNING);
      case 'tool_call_request': {
        const { id, name, arguments: values } = event;
        this.#calls.set(id, { name, number: this.#calls.size + 1, arguments: values });
        return this.#add(values, orderOf(event));
      }
      case 'handle_started':
        return this.#handle(event);
      case 'tool_call_response':
        return this.#response(event, find);
      default:
    }
  }

  #add(values: unknown, order: number): void {
    this.#own.push({ values, order });
  }

  #request(event: EventOf<'chat_request'>, find: Find): void {
    this.#carried(event, { item: event.event_id }, find);
    // A subagent's first request was written by its parent.
    const isByAgent = this.#parent !== undefined && !this.#hasRequest;
    this.#hasRequest = true;
    if (event.source === 'user' && !isByAgent) this.#ofUser(event);
  }

  #ofUser(event: EventOf<'chat_request'> | EventOf<'user_text_queued'>): void {
    this.#add([event.content, event.typed ?? ''], FROM_THE_BEGINNING);
    for (const one of event.attachments ?? []) this.#attached(event, one);
  }

  #attached(event: LogEvent, one: Attachment): void {
    if (one.type !== 'resource' && one.type !== 'file_content') return;
    const { content: text } = one;
    const place = { text, item: event.event_id, order: orderOf(event) };
    if (one.type === 'resource') {
      this.#received.push({ ...place, source: { type: 'server', name: one.server, detail: one.uri } });
    } else if (/^(?:[/\\]|[A-Za-z]:)/.test(one.path)) {
      this.#received.push({ ...place, source: { type: 'file', name: one.path } });
    } else this.#showed(text, [one.path]);
  }

  /** What is in a file that a call has changed is no evidence of where it came from. */
  #showed(text: string, paths: readonly string[]): void {
    if (paths.length > 0 && !paths.some((path) => this.#changed.has(path))) this.#files.push({ text, paths });
  }

  #handle({ name, tool_call_id: call, task, agent }: EventOf<'handle_started'>): void {
    if (agent !== undefined) this.#agents.push(agent.conversation);
    const source = task && { type: 'server' as const, name: task.server };
    this.#handles.set(name, { call, isAgent: agent !== undefined, source });
  }

  #response(event: Response, find: Find): void {
    const { id, content: text, seen = [], changes = [], meanwhile = [] } = event;
    const call = this.#calls.get(id);
    const place = { item: id, call: call?.number };
    const source = call && this.#sourceOf(event, call);
    for (const handle of this.#handles.values()) if (handle.call === id) handle.source ??= source;
    if (source !== undefined) this.#received.push({ text, source, ...place, order: orderOf(event) });
    else {
      this.#showed(
        text,
        seen.map(({ path }) => path),
      );
    }
    this.#carried(event, place, find);
    if (this.#received.length > 0) for (const { path } of [...changes, ...meanwhile]) this.#changed.add(path);
  }

  /** Undefined: its text does not come from outside. */
  #sourceOf({ outside, handles = [] }: Response, { name, arguments: values }: Call): TextSource | undefined {
    if (outside !== undefined) return outside;
    const traits = this.#tools?.traits(name);
    const server = traits?.server ?? this.#servers.get(name);
    if (server !== undefined) return { type: 'server', name: server };
    if (traits?.resultsFrom !== undefined) {
      const named = [values['url'], values['server']].find((value) => typeof value === 'string');
      return { type: traits.resultsFrom, name: named ?? (traits.resultsFrom === 'tool' ? name : '') };
    }
    const shown = handles.map((handle) => this.#handles.get(handle.name)?.source).find((one) => one !== undefined);
    // Nothing is known of a tool that was removed.
    if (shown !== undefined || this.#tools === undefined || this.#tools.known(name) !== undefined) return shown;
    return { type: 'tool', name };
  }

  /** What a subagent reports is its own text; what it has read is in its own conversation. */
  #isOutside({ kind, origin, subject = '' }: Notification): boolean {
    const handle = handleInScope(subject);
    if (handle !== undefined && this.#handles.get(handle)?.isAgent === true) return false;
    const exception = EXCEPTIONS[kind.source];
    return exception === undefined ? !INSIDE.has(origin) : exception === 'outside';
  }

  #carried(event: Response | EventOf<'chat_request'>, place: Pick<OutsideText, 'item' | 'call'>, find: Find): void {
    const { notifications } = event;
    for (const id of [...(notifications?.shown ?? []), ...(notifications?.merged ?? [])]) {
      const one = find(id);
      if (one === undefined || !this.#isOutside(one)) continue;
      // The user has typed the command of a terminal.
      if (one.kind.source === 'terminal') this.#add(nameOfSubject(one.subject ?? ''), FROM_THE_BEGINNING);
      this.#received.push({ text: one.message, source: sourceOf(one), ...place, order: orderOf(event) });
    }
  }
}

function sourceOf(notification: Notification): TextSource {
  const { label, subject } = labelNotification(notification);
  if (notification.origin === 'agent') return { type: 'message', name: subject };
  return { type: 'notification', name: label, ...(subject !== '' && { detail: subject }) };
}

function orderOf({ timestamp, seq }: Pick<LogEvent, 'timestamp' | 'seq'>): number {
  return Date.parse(timestamp) * EVENTS_OF_ONE_MILLISECOND + (seq % EVENTS_OF_ONE_MILLISECOND);
}
