// The conversations that this window owns, as producers see them: seen files, watched globs, running calls.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { changeEvents } from '../conversation/events/changeEvents.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type WantedEvents } from '../ports/mcp.ts';
import { type SeenFile, type SeenFiles } from '../ports/ports.ts';
import { type LiveConversations, type ActiveCall } from '../ports/producers.ts';
import { type OwnEdits } from './ownEdits.ts';
import { type ToolRegistry } from './registry.ts';
import { type EventOf, type LogEvent } from '../../protocol/event.ts';

interface ObservedConversation {
  readonly log: ConversationLog;
  readonly activity: Activity;
  readonly edits: OwnEdits;
}

/** Writes a subscription that a setting of the user asks for. */
type Subscribe = (log: ConversationLog, wanted: WantedEvents, wake: boolean) => Promise<string>;

export class LiveViews implements Disposable {
  readonly #registry: ToolRegistry;
  readonly #subscribe: Subscribe;
  readonly #logs = new Map<string, ObservedConversation>();
  readonly #onDidChangeSeen: Emitter<void>;
  readonly #onDidChange: Emitter<void>;

  constructor(registry: ToolRegistry, subscribe: Subscribe, report: (error: unknown) => void) {
    this.#registry = registry;
    this.#subscribe = subscribe;
    this.#onDidChangeSeen = new Emitter(report);
    this.#onDidChange = new Emitter(report);
  }

  /** Includes the conversation until the result is disposed of. */
  join(log: ConversationLog, edits: OwnEdits): Disposable {
    const held = new DisposableStore();
    const activity = new Activity(log.id, this.#registry);
    this.#logs.set(log.id, { log, activity, edits });
    held.add(
      toDisposable(() => {
        this.#logs.delete(log.id);
        this.#fireAll();
      }),
    );
    let { globs, resources } = log.state.watches;
    let lines = log.state.lines.all;
    let events = log.state.events.all;
    held.add(
      log.onDidAppend(({ event, seenChanged: seenMoved }) => {
        if (event.type === 'tool_call_response') edits.release(event.id);
        if (seenMoved) this.#onDidChangeSeen.fire();
        const { watches } = log.state;
        const now = log.state.lines.all;
        const subscribed = log.state.events.all;
        const acts =
          globs !== watches.globs || resources !== watches.resources || lines !== now || events !== subscribed;
        const changed = activity.take(event) || acts;
        ({ globs, resources } = watches);
        lines = now;
        events = subscribed;
        if (changed) this.#onDidChange.fire();
      }),
    );
    held.add(log.onDidReset(() => this.#fireAll()));
    this.#fireAll();
    return held;
  }

  /** Producers look again at the calls and files that are being changed. */
  changed(): void {
    this.#onDidChange.fire();
  }

  #seenFiles(withSearched: boolean): SeenFiles {
    const get = (path: string): SeenFile | undefined => {
      const by = [...this.#logs.values()].flatMap(({ log }): SeenFile['by'] => {
        const state = log.state.seen.get(path);
        if (state === undefined || (state.part?.searched === true && !withSearched)) return [];
        return [{ conversation: log.id, ...state }];
      });
      return by.length === 0 ? undefined : { path, by };
    };
    return {
      all: () => {
        const paths = new Set([...this.#logs.values()].flatMap(({ log }) => [...log.state.seen.paths()]));
        return [...paths].flatMap((path) => get(path) ?? []);
      },
      get,
      onDidChange: (listener) => this.#onDidChangeSeen.event(listener),
    };
  }

  dispose(): void {
    this.#onDidChange.dispose();
    this.#onDidChangeSeen.dispose();
  }

  readonly seen: SeenFiles = { ...this.#seenFiles(false), withSearched: this.#seenFiles(true) };

  readonly live: LiveConversations = {
    ids: () => [...this.#logs.keys()],
    title: (conversation) => this.#logs.get(conversation)?.log.state.summary.title ?? '',
    subagent: (conversation) => this.#logs.get(conversation)?.log.state.summary.subagent?.name,
    globs: (conversation) => {
      const logs = [...this.#logs.values()].filter(({ log }) => conversation === undefined || log.id === conversation);
      return new Set(logs.flatMap(({ log }) => [...log.state.watches.globs]));
    },
    resources: () => new Set([...this.#logs.values()].flatMap(({ log }) => [...log.state.watches.resources])),
    lines: (conversation) => this.#logs.get(conversation)?.log.state.lines.all ?? new Map(),
    linesSearched: async (conversation, searched) => {
      const log = this.#logs.get(conversation)?.log;
      if (log?.owned === true) await log.append({ type: 'lines_searched', ...searched });
    },
    events: (conversation) => this.#logs.get(conversation)?.log.state.events,
    subscribeEvents: async (conversation, wanted, wake) => {
      const log = this.#logs.get(conversation)?.log;
      return log?.owned === true ? this.#subscribe(log, wanted, wake) : undefined;
    },
    mayWake: (conversation, grant) => (this.#logs.get(conversation)?.log.state.wakes.left(grant) ?? 0) > 0,
    changeEvents: async (conversation, change) => {
      const log = this.#logs.get(conversation)?.log;
      if (log?.owned === true) await changeEvents(log, change);
    },
    scripts: (conversation) => {
      const log = this.#logs.get(conversation)?.log;
      if (log?.owned !== true) return undefined;
      const { turn, scripts } = log.state;
      return { key: turn.key, isKnown: scripts.isKnown.bind(scripts), wakesOf: (run) => scripts.wakesOf(run) };
    },
    commits: (conversation) => {
      const log = this.#logs.get(conversation)?.log;
      if (log?.owned !== true) return undefined;
      const { commits, changes, summary } = log.state;
      return {
        ...{ followed: commits.followed, changed: changes.paths, parent: summary.subagent?.parent },
        isListener: commits.isListener,
        ranGit: (at) => commits.ranGit(at),
        reported: (subject) => commits.reported(subject),
        isKnownReview: (id) => commits.isKnownReview(id),
      };
    },
    followCommit: async (conversation, commit) => {
      const log = this.#logs.get(conversation)?.log;
      if (log?.owned === true) await log.append({ type: 'commit_followed', ...commit });
    },
    pending: (conversation, kind, subject) => {
      const pending = this.#logs.get(conversation)?.log.state.pending;
      return pending?.newest(pending.idsOf(kind, subject).at(-1) ?? '');
    },
    isChanging: (path) => [...this.#logs.values()].some(({ edits }) => edits.isChanging(path)),
    takeOverwritten: (conversation) => this.#logs.get(conversation)?.edits.takeOverwritten() ?? [],
    callsSince: (time) =>
      [...this.#logs.values()]
        .flatMap(({ activity }) => activity.calls)
        .filter(({ ended = Number.POSITIVE_INFINITY }) => ended >= time)
        .sort((a, b) => a.started - b.started),
    onDidChange: (listener) => this.#onDidChange.event(listener),
  };

  #fireAll(): void {
    this.#onDidChangeSeen.fire();
    this.#onDidChange.fire();
  }
}

/** Ended calls are kept for this long, because their changes are noticed a while later. */
const KEPT_MILLISECONDS = 30_000;

/** Every call that does more than read has an approval in the log before it begins. */
class Activity {
  readonly #conversation: string;
  readonly #registry: ToolRegistry;
  readonly #requests = new Map<string, EventOf<'tool_call_request'>>();
  readonly #calls = new Map<string, ActiveCall>();

  constructor(conversation: string, registry: ToolRegistry) {
    this.#conversation = conversation;
    this.#registry = registry;
  }

  get calls(): readonly ActiveCall[] {
    return [...this.#calls.values()];
  }

  /** Returns whether the set of running calls has changed. */
  take(event: LogEvent): boolean {
    switch (event.type) {
      case 'tool_call_request':
        this.#requests.set(event.id, event);
        return false;
      case 'approval':
        return this.#allowed(event);
      case 'tool_call_response':
        this.#requests.delete(event.id);
        return this.#ended(event);
      case 'changes_reviewed':
        return this.#reviewed(event);
      default:
        return false;
    }
  }

  #reviewed({ event_id, action, files, timestamp }: EventOf<'changes_reviewed'>): boolean {
    if (action === 'keep') return false;
    const ended = Date.parse(timestamp);
    const made = new Map(files.map(({ path, after }) => [path, after]));
    const review = action === 'bring_back' ? 'revert' : action;
    const paths = [...made.keys()];
    this.#add(
      event_id,
      { conversation: this.#conversation, tool: '', review, paths, started: ended, ended, made },
      ended,
    );
    return true;
  }

  #allowed({ tool_call_id, action, arguments: changed, timestamp }: EventOf<'approval'>): boolean {
    const request = this.#requests.get(tool_call_id);
    if (request === undefined || action === 'reject') return false;
    const tool = this.#registry.known(request.name);
    const parsed = tool?.parse(changed ?? request.arguments);
    const touched = parsed?.ok === true ? tool?.touches?.(parsed.value) : undefined;
    this.#calls.set(tool_call_id, {
      conversation: this.#conversation,
      tool: request.name,
      ...(touched?.command !== undefined && { command: touched.command }),
      paths: touched?.paths ?? [],
      started: Date.parse(timestamp),
      made: new Map(),
    });
    return true;
  }

  #ended({ id, changes = [], timestamp }: EventOf<'tool_call_response'>): boolean {
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    const ended = Date.parse(timestamp);
    this.#add(id, { ...call, ended, made: new Map(changes.map(({ path, after }) => [path, after])) }, ended);
    return true;
  }

  /** Adds an ended call, and removes old ones. */
  #add(id: string, call: ActiveCall, ended: number): void {
    this.#calls.set(id, call);
    for (const [old, { ended: before = ended }] of this.#calls) {
      if (ended - before > KEPT_MILLISECONDS) this.#calls.delete(old);
    }
  }
}
