// Requests images and sound of results from the host. The host has them by hash, so they never change.
import type { FromPage } from '../../protocol/webview.ts';

/** How many are kept here; the browser itself keeps those that are shown. */
const KEPT = 20;

export class MediaReader {
  readonly #post: (message: FromPage) => void;
  readonly #asked = new Map<string, PromiseWithResolvers<string | undefined>>();

  constructor(post: (message: FromPage) => void) {
    this.#post = post;
  }

  /** In base64; undefined if it is no longer stored. */
  read(hash: string): Promise<string | undefined> {
    const asked = this.#asked.get(hash);
    if (asked !== undefined) return asked.promise;
    const reading = Promise.withResolvers<string | undefined>();
    this.#asked.set(hash, reading);
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > KEPT && oldest !== undefined) this.#asked.delete(oldest);
    this.#post({ type: 'read_media', hash });
    return reading.promise;
  }

  resolve(hash: string, data: string | undefined): void {
    this.#asked.get(hash)?.resolve(data);
  }
}
