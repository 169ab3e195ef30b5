// Requests images and sound of results from the host. The host has them by hash, so they never change.
import type { FromPage } from '../../protocol/webview.ts';

/** How many answers are kept here; the browser itself keeps those that are shown. */
const KEPT = 20;

export class MediaReader {
  readonly #post: (message: FromPage) => void;
  readonly #outstanding = new Map<string, PromiseWithResolvers<string | undefined>>();
  readonly #answered = new Map<string, Promise<string | undefined>>();

  constructor(post: (message: FromPage) => void) {
    this.#post = post;
  }

  /** In base64; undefined if it is no longer stored. */
  read(hash: string): Promise<string | undefined> {
    const asked = this.#answered.get(hash) ?? this.#outstanding.get(hash)?.promise;
    if (asked !== undefined) return asked;
    const reading = Promise.withResolvers<string | undefined>();
    this.#outstanding.set(hash, reading);
    this.#post({ type: 'read_media', hash });
    return reading.promise;
  }

  resolve(hash: string, data: string | undefined): void {
    const reading = this.#outstanding.get(hash);
    if (reading === undefined) return;
    this.#outstanding.delete(hash);
    reading.resolve(data);
    this.#answered.set(hash, reading.promise);
    const [oldest] = this.#answered.keys();
    if (this.#answered.size > KEPT && oldest !== undefined) this.#answered.delete(oldest);
  }
}
