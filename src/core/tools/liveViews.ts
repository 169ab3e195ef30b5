// The conversations that this window owns, as producers see them: seen files, watched globs, running calls.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type SeenFile, type SeenFiles } from '../ports/ports.ts';
import { type LiveConversations } from '../ports/producers.ts';
import { Activity } from './activity.ts';
import { type OwnEdits } from './ownEdits.ts';
import { type ToolRegistry } from './registry.ts';

interface ObservedConversation {
  readonly log: ConversationLog;
  readonly activity: Activity;
  readonly edits: OwnEdits;
}

export class LiveViews implements Disposable {
  readonly #registry: ToolRegistry;
  readonly #logs = new Map<string, ObservedConversation>();
  readonly #onDidChangeSeen: Emitter<void>;
  readonly #onDidChange: Emitter<void>;

  constructor(registry: ToolRegistry, report: (error: unknown) => void) {
    this.#registry = registry;
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
    held.add(
      log.onDidAppend(({ event, seenChanged: seenMoved }) => {
        if (event.type === 'tool_call_response') edits.release(event.id);
        if (seenMoved) this.#onDidChangeSeen.fire();
        const { watches } = log.state;
        const changed = activity.take(event) || globs !== watches.globs || resources !== watches.resources;
        ({ globs, resources } = watches);
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
