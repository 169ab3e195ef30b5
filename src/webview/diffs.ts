// Requests the diffs of calls from the host and caches them: the diff of an ended call never changes.
import type { FileDiff } from '../protocol/page/diffView.ts';
import type { FromPage } from '../protocol/webview.ts';

export class DiffReader {
  readonly #post: (message: FromPage) => void;
  readonly #asked = new Map<string, Promise<readonly FileDiff[]>>();
  readonly #waiting = new Map<string, (files: readonly FileDiff[]) => void>();

  constructor(post: (message: FromPage) => void) {
    this.#post = post;
  }

  read(call: string): Promise<readonly FileDiff[]> {
    const asked = this.#asked.get(call);
    if (asked !== undefined) return asked;
    const { promise, resolve } = Promise.withResolvers<readonly FileDiff[]>();
    this.#asked.set(call, promise);
    this.#waiting.set(call, resolve);
    this.#post({ type: 'read_diff', call });
    return promise;
  }

  resolve(call: string, files: readonly FileDiff[]): void {
    this.#waiting.get(call)?.(files);
    this.#waiting.delete(call);
  }
}
