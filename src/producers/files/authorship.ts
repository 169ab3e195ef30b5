// Attributes a file change to an observed cause: a save or a call that wrote these bytes, or a command that ran.
import { type Disposable } from '../../base/disposable.ts';
import { defined } from '../../base/json/defined.ts';
import { type Author, type OtherAgent } from '../../core/notify/wording/author.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type ActiveCall, type LiveConversations, type UserReview } from '../../core/ports/producers.ts';
import { type EditorBuffers } from '../../core/ports/sources.ts';
import { type Snapshots } from '../../core/ports/storage.ts';

/** Events arrive slightly before or after the change. */
const SLACK_MILLISECONDS = 1000;
const SAVES_KEPT = 1000;
/** Saved states per file: a comparison may follow several saves. */
const STATES_KEPT = 20;

interface Save {
  readonly at: number;
  /** The bytes contain code from the chat that the user applied. */
  readonly applied: boolean;
}

/** The known facts about a change before it is reported. */
export interface Change {
  readonly path: string;
  /** The hash of the new bytes; undefined if the file was deleted. */
  readonly hash: string | undefined;
  /** When the change was noticed; undefined if it was found later without being observed. */
  readonly touched: number | undefined;
  /** The change happened while the conversation was not live. */
  readonly unobserved?: boolean;
  readonly git?: boolean;
}

/** `own`: a call of the recipient made the change, and its result reports it. */
export type Verdict = Author | 'own' | undefined;

export interface AuthorshipDeps {
  readonly clock: Clock;
  readonly live: LiveConversations;
  readonly snapshots: Pick<Snapshots, 'hash'>;
  /** If absent, saves are not attributed. */
  readonly buffers?: EditorBuffers | undefined;
}

export class Authorship implements Disposable {
  readonly #live: LiveConversations;
  readonly #hash: (bytes: Uint8Array) => string;
  /** The user's saves, by path and the hash of the saved bytes. */
  readonly #saves = new Map<string, Map<string, Save>>();
  /** Saves whose bytes are not known yet. */
  readonly #saving = new Map<string, Promise<void>>();
  readonly #listening: Disposable | undefined;

  constructor(deps: AuthorshipDeps) {
    this.#live = deps.live;
    this.#hash = (bytes) => deps.snapshots.hash(bytes);
    this.#listening = deps.buffers?.onDidSave(({ path, bytes, own, applied = false }) => {
      if (own) return;
      const at = deps.clock.now();
      const known = Promise.allSettled([this.#saving.get(path), bytes]).then(([, saved]) => {
        if (saved.status === 'fulfilled') this.#saved(path, saved.value, { at, applied });
        if (this.#saving.get(path) === known) this.#saving.delete(path);
      });
      this.#saving.set(path, known);
    });
  }

  /** Resolves once the bytes of all saves of this file so far are known. */
  async savesKnown(path: string): Promise<void> {
    await this.#saving.get(path);
  }

  /** Whether a call that changes this file is running, whose result will report the change. */
  isBeingEdited(path: string): boolean {
    // Compares the resolved path and the path that the model wrote.
    if (this.#live.isChanging(path)) return true;
    return this.#live
      .callsSince(Number.POSITIVE_INFINITY)
      .some(({ ended, paths }) => ended === undefined && paths.includes(path));
  }

  judge({ path, hash, touched, git, unobserved }: Change, recipient: string): Verdict {
    const since = (touched ?? 0) - SLACK_MILLISECONDS;
    const calls = this.#live.callsSince(since).toReversed();
    const maker = calls.find(({ made }) => made.has(path) && made.get(path) === hash);
    if (maker?.review !== undefined) return this.#review(maker, maker.review, recipient);
    if (maker?.command !== undefined) return this.#command(maker, maker.command, recipient);
    if (maker !== undefined) return maker.conversation === recipient ? 'own' : this.#conversation(maker);
    if (unobserved === true) return { type: 'unobserved' };
    if (touched === undefined) return undefined;
    // Compared by content, so that a write by others right after a save does not count as the user's.
    const save = hash === undefined ? undefined : this.#saves.get(path)?.get(hash);
    if (save !== undefined && save.at >= since) return { type: 'user', ...(save.applied && { applied: true }) };
    if (git === true) return { type: 'git' };
    const commands = calls.filter(({ command, started }) => command !== undefined && started <= touched);
    const command = commands.find(({ conversation }) => conversation === recipient) ?? commands[0];
    if (command?.command === undefined) return { type: 'outside' };
    return this.#command(command, command.command, recipient);
  }

  dispose(): void {
    this.#listening?.dispose();
  }

  #saved(path: string, bytes: Uint8Array, save: Save): void {
    if (this.#saves.size >= SAVES_KEPT) this.#saves.clear();
    const states = this.#saves.get(path) ?? new Map<string, Save>();
    const hash = this.#hash(bytes);
    states.delete(hash);
    states.set(hash, save);
    const [oldest] = states.keys();
    if (states.size > STATES_KEPT && oldest !== undefined) states.delete(oldest);
    this.#saves.set(path, states);
  }

  #command({ conversation }: ActiveCall, command: string, recipient: string): Author {
    const own = conversation === recipient;
    return { type: 'command', command, ...(!own && { of: this.#agent(conversation) }) };
  }

  #review({ conversation }: ActiveCall, review: UserReview, recipient: string): Author {
    return { type: 'review', review, ...(conversation !== recipient && { of: this.#agent(conversation) }) };
  }

  #conversation({ conversation }: ActiveCall): Author {
    return { type: 'conversation', ...this.#agent(conversation) };
  }

  #agent(conversation: string): OtherAgent {
    const subagent = this.#live.subagent?.(conversation);
    return { title: this.#live.title(conversation), ...defined({ subagent }) };
  }
}
