// The open requests to the user in one front end. Each is answered once, by the first answer.

interface Open<Request, Answer> {
  readonly request: Request;
  resolve(answer: Answer): void;
}

export class OpenRequests<Request, Answer> {
  readonly #open = new Map<string, Open<Request, Answer>>();
  readonly #changed: (request: Request) => void;

  /** `changed` is called when a request was opened, changed, answered or cancelled. */
  constructor(changed: (request: Request) => void) {
    this.#changed = changed;
  }

  /** Rejects only when the signal is aborted. */
  open(id: string, request: Request, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const close = () => {
      signal.removeEventListener('abort', cancel);
      this.#open.delete(id);
      this.#changed(request);
    };
    const cancel = () => {
      close();
      reject(new Error('cancelled'));
    };
    this.#open.set(id, {
      request,
      resolve: (answer) => {
        close();
        resolve(answer);
      },
    });
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    else this.#changed(request);
    return promise;
  }

  get(id: string): Request | undefined {
    return this.#open.get(id)?.request;
  }

  /** Replaces an open request; ignored if it is not open. */
  change(id: string, request: Request): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.set(id, { ...open, request });
    this.#changed(request);
  }

  get all(): readonly Request[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Returns false if no request with this id is open. */
  answer(id: string, answer: Answer): boolean {
    const open = this.#open.get(id);
    open?.resolve(answer);
    return open !== undefined;
  }
}
