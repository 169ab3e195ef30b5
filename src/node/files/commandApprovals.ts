// Remembers which commands the user approved: for all windows if all code of the command is pinned by its hashes, and
// otherwise for this window.
import { type InspectedCommand } from './fingerprint.ts';

export interface StoredApprovals {
  has(key: string): Promise<boolean> | boolean;
  /** Resolves once it is on disk. */
  add(key: string): Promise<void>;
}

type Pinned = Pick<InspectedCommand, 'unpinned'>;

export class CommandApprovals {
  readonly #stored: StoredApprovals;
  readonly #here = new Set<string>();

  constructor(stored: StoredApprovals) {
    this.#stored = stored;
  }

  async has(key: string, { unpinned }: Pinned): Promise<boolean> {
    return unpinned.length === 0 ? this.#stored.has(key) : this.#here.has(key);
  }

  async add(key: string, { unpinned }: Pinned): Promise<void> {
    if (unpinned.length === 0) await this.#stored.add(key);
    else this.#here.add(key);
  }
}
