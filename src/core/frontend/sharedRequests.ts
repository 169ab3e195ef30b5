// Asks several front ends the open requests of one kind (approvals or questions). The first answer is used.

export interface SharedRequestsDeps<Frontend, Request, Answer> {
  /** Undefined: this front end cannot answer. */
  ask(frontend: Frontend, request: Request, signal: AbortSignal): Promise<Answer> | undefined;
  isSame(one: Request, other: Request): boolean;
  notifyChanged?(frontend: Frontend, request: Request): void;
  notifyAnswered(frontend: Frontend, request: Request, answer: Answer): void;
  /** Runs an action of a front end and reports what it throws. */
  guard<T>(action: () => T): T | undefined;
  report(error: unknown): void;
}

interface SharedRequest<Frontend, Request, Answer> {
  request: Request;
  /** The front ends that were asked. */
  readonly asked: Map<Frontend, AbortController>;
  answer(by: Frontend, answer: Answer): void;
}

export class SharedRequests<Frontend, Request, Answer> {
  readonly #deps: SharedRequestsDeps<Frontend, Request, Answer>;
  readonly #open = new Set<SharedRequest<Frontend, Request, Answer>>();

  constructor(deps: SharedRequestsDeps<Frontend, Request, Answer>) {
    this.#deps = deps;
  }

  /** Stays open even if no front end can answer. Rejects only when the signal is aborted. */
  open(frontends: Iterable<Frontend>, request: Request, signal: AbortSignal): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const close = () => {
      signal.removeEventListener('abort', cancel);
      this.#open.delete(open);
    };
    const cancel = () => {
      close();
      for (const asked of open.asked.values()) asked.abort();
      reject(new Error('cancelled'));
    };
    const open: SharedRequest<Frontend, Request, Answer> = {
      request,
      asked: new Map(),
      answer: (by, answer) => {
        if (!this.#open.has(open) || !open.asked.delete(by)) return;
        close();
        resolve(answer);
        for (const [frontend, asked] of open.asked) {
          asked.abort();
          this.#deps.guard(() => this.#deps.notifyAnswered(frontend, open.request, answer));
        }
      },
    };
    if (signal.aborted) {
      cancel();
      return promise;
    }
    this.#open.add(open);
    signal.addEventListener('abort', cancel, { once: true });
    for (const frontend of frontends) this.#ask(frontend, open);
    return promise;
  }

  /** Asks an added front end the open requests. */
  join(frontend: Frontend): void {
    for (const open of this.#open) this.#ask(frontend, open);
  }

  /** Cancels the requests to a removed front end; a late answer from it is ignored. */
  leave(frontend: Frontend): void {
    for (const { asked } of this.#open) {
      const asking = asked.get(frontend);
      asked.delete(frontend);
      asking?.abort();
    }
  }

  /** Replaces an open request; ignored if it is not open. */
  change(request: Request): void {
    for (const open of this.#open) {
      if (!this.#deps.isSame(open.request, request)) continue;
      open.request = request;
      for (const frontend of open.asked.keys()) {
        this.#deps.guard(() => this.#deps.notifyChanged?.(frontend, request));
      }
    }
  }

  #ask(frontend: Frontend, open: SharedRequest<Frontend, Request, Answer>): void {
    if (open.asked.has(frontend)) return;
    const asking = new AbortController();
    const answer = this.#deps.guard(() => this.#deps.ask(frontend, open.request, asking.signal));
    if (answer === undefined) return;
    open.asked.set(frontend, asking);
    const failed = (error: unknown) => {
      if (!asking.signal.aborted) this.#deps.report(error);
    };
    answer.then((given) => open.answer(frontend, given), failed);
  }
}
