// Follows the ports on which background commands listen, while anybody wants to know.
import { Sequence } from '../../base/async.ts';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type ListeningPort } from '../../node/platform/parts.ts';
import { listeningPorts } from '../../node/supervision/listeningPorts.ts';

/** Servers usually open their port soon after they start. */
const YOUNG = 60_000;
const LOOK_EVERY = { young: 1000, old: 10_000 } as const;
/** Of one command. */
const MOST_PORTS = 8;

export interface OpenPort extends ListeningPort {
  readonly handle: Handle & { readonly name: string };
}

export interface OpenPortsDeps {
  readonly handles: Pick<Handles, 'busy' | 'list' | 'onDidChange'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Listener {
  opened(port: OpenPort): void;
  closed(port: OpenPort): void;
}

export class OpenPorts {
  readonly #deps: OpenPortsDeps;
  readonly #listeners = new Set<Listener>();
  readonly #open = new Map<string, OpenPort>();
  readonly #looking = new Sequence();
  #listening: Disposable | undefined;
  #timer: Disposable | undefined;

  constructor(deps: OpenPortsDeps) {
    this.#deps = deps;
  }

  /** Reports the ports that are open, and every change until the result is disposed of. */
  follow(listener: Listener): Disposable {
    this.#listeners.add(listener);
    for (const port of this.#open.values()) listener.opened(port);
    this.#listening ??= this.#deps.handles.onDidChange(({ type }) => type === 'state' && this.#look());
    this.#look();
    return toDisposable(() => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#listening?.dispose();
      this.#listening = undefined;
      this.#timer?.dispose();
      this.#timer = undefined;
      this.#open.clear();
    });
  }

  #look(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    const running = this.#running();
    if (running.length === 0 && this.#open.size === 0) return;
    void this.#looking
      .run(() => this.#compare(running))
      .catch((error: unknown) => this.#deps.logger.error('open ports could not be found', error))
      .finally(() => this.#lookLater());
  }

  #lookLater(): void {
    const running = this.#running();
    if (this.#listeners.size === 0 || running.length === 0 || this.#timer !== undefined) return;
    const isYoung = running.some(({ milliseconds }) => milliseconds < YOUNG);
    this.#timer = this.#deps.clock.after(isYoung ? LOOK_EVERY.young : LOOK_EVERY.old, () => this.#look());
  }

  #running(): readonly (Handle & { readonly name: string })[] {
    const { handles } = this.#deps;
    return handles.busy.flatMap((conversation) => handles.list(conversation).filter(({ hasEnded }) => !hasEnded));
  }

  async #compare(running: readonly (Handle & { readonly name: string })[]): Promise<void> {
    const now = new Map<string, OpenPort>();
    for (const handle of running) {
      const { shell, mark } = handle.process;
      if (shell === undefined) continue;
      for (const port of (await listeningPorts(shell, mark)).slice(0, MOST_PORTS))
        now.set(JSON.stringify([handle.conversation, handle.name, port.port]), { ...port, handle });
    }
    // Nobody listens any more, or the window is being closed.
    if (this.#listeners.size === 0) return;
    for (const [key, port] of this.#open) {
      if (now.has(key)) continue;
      this.#open.delete(key);
      for (const listener of this.#listeners) listener.closed(port);
    }
    for (const [key, port] of now) {
      if (this.#open.has(key)) continue;
      this.#open.set(key, port);
      for (const listener of this.#listeners) listener.opened(port);
    }
  }
}
