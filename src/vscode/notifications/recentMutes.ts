// Remembers for a week which kinds were muted, and what the settings were before, so that it can be undone.
import { type Mute } from '../../protocol/page/pendingView.ts';
import { printKind } from '../../protocol/notification.ts';
import { type MuteSettings } from './mutedSettings.ts';

const WEEK = 7 * 24 * 60 * 60 * 1000;
const KEY = 'mutedKinds';

interface RecentMute {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The switches of the source before; null: there were none. */
  readonly before: Readonly<Record<string, boolean>> | null;
}

export interface RecentMutesDeps {
  readonly memory: {
    get(key: string): unknown;
    update(key: string, value: unknown): PromiseLike<void>;
  };
  now(): number;
}

type KindMute = Extract<Mute, { by: 'kind' }>;

export class RecentMutes {
  readonly #deps: RecentMutesDeps;

  constructor(deps: RecentMutesDeps) {
    this.#deps = deps;
  }

  /** By kind, as `source.name`. */
  get all(): Readonly<Record<string, RecentMute>> {
    const stored = (this.#deps.memory.get(KEY) ?? {}) as Readonly<Record<string, RecentMute>>;
    const now = this.#deps.now();
    return Object.fromEntries(Object.entries(stored).filter(([, { at }]) => now - at < WEEK));
  }

  async remember({ kind }: KindMute, { 'notifications.kinds': kinds }: MuteSettings): Promise<void> {
    const before = kinds[kind.source] ?? null;
    await this.#store({ ...this.all, [printKind(kind)]: { at: this.#deps.now(), before } });
  }

  /** The settings before it was muted, as far as `unmuteIn` needs them; undefined: that was more than a week ago. */
  before({ kind }: KindMute): MuteSettings | undefined {
    const muted = this.all[printKind(kind)];
    if (muted === undefined) return undefined;
    const kinds = muted.before === null ? {} : { [kind.source]: muted.before };
    return { 'notifications.kinds': kinds, 'notifications.ignoredPaths': [] };
  }

  async forget({ kind }: KindMute): Promise<void> {
    const { [printKind(kind)]: _, ...others } = this.all;
    await this.#store(others);
  }

  async #store(all: Readonly<Record<string, RecentMute>>): Promise<void> {
    await this.#deps.memory.update(KEY, all);
  }
}
