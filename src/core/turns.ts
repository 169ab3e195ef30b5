// Decides when a turn begins and ends in a live conversation, and what is mended before it.
import { type Failure, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { cycleDeps, recoverTurn, runTurn, startTurn, type TurnDeps, type TurnRequest } from './agent/loop.ts';
import { nameConversation } from './agent/titles.ts';
import { type ConversationChange, type Live, storageFailure } from './live.ts';
import { type Ports } from './ports.ts';
import { type ToolRegistry } from './tools/registry.ts';

export interface TurnsDeps {
  readonly ports: Ports;
  readonly registry: ToolRegistry;
  changed(change: ConversationChange): void;
}

export class Turns {
  readonly #deps: TurnsDeps;

  constructor(deps: TurnsDeps) {
    this.#deps = deps;
  }

  /** Starts a turn with the user's words. Resolves once they are on disk, not when the turn ends. */
  async send(live: Live, request: TurnRequest): Promise<Result<void>> {
    const unusable = request.schema && (await import('./agent/structured.ts')).whyUnusable(request.schema);
    if (unusable !== undefined) {
      return failed('bad_schema', `schema: it cannot be used: ${unusable}.`, 'Send it again with a plain JSON Schema.');
    }
    try {
      await this.mend(live);
    } catch (error) {
      return storageFailure(error);
    }
    if (live.turn !== undefined) {
      return failed('running', 'The agent is still working.', 'Wait for it to end, or stop it.');
    }
    try {
      const started = startTurn(this.#turnDeps(live), request);
      this.#run(live, started);
      await started;
      return succeeded(undefined);
    } catch (error) {
      return storageFailure(error);
    }
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(live: Live): Promise<void> {
    live.turn?.abort.abort();
    await live.turn?.ended;
  }

  /** Goes on with a turn that was handed over between two cycles or waits for an approval; others are ended. */
  async takeUp(live: Live, handedOver: boolean): Promise<void> {
    const { turn } = live.log.state;
    const between = handedOver && turn.isOpen && turn.unanswered.length === 0;
    if (between || (await recoverTurn(this.#turnDeps(live)))) this.#run(live);
  }

  /** After a failed write. The turn that it ended is still open in the log: it is recovered as after a restart. */
  async mend(live: Live): Promise<void> {
    const mend = async () => {
      await live.log.mend();
      await live.turn?.ended;
      if (live.log.state.turn.isOpen) await recoverTurn(this.#turnDeps(live));
    };
    if (live.log.isBroken || (live.turn === undefined && live.log.state.turn.isOpen)) {
      live.mending ??= mend().finally(() => {
        delete live.mending;
      });
    }
    await live.mending;
  }

  #turnDeps(live: Live): TurnDeps {
    const { ports, registry } = this.#deps;
    const { log, edits, captures, handOver: frontend } = live;
    return { log, registry, edits, ports: { ...ports, frontend }, ...(captures && { captures }) };
  }

  /** `started` is what must be on disk before the first model call. */
  #run(live: Live, started: Promise<void> = Promise.resolve()): void {
    const abort = new AbortController();
    let failure: Failure | undefined;
    const turn = async () => {
      try {
        await started;
        const end = await runTurn(this.#turnDeps(live), abort.signal);
        if (end.outcome === 'done') this.#name(live);
      } catch (error) {
        // Nothing more can be written; after the window's end nobody needs to hear of it.
        if (!(error instanceof FailureError)) this.#deps.ports.log.error('the turn failed unexpectedly', error);
        else if (error.failure.code === 'storage') failure = error.failure;
      } finally {
        delete live.turn;
        this.#deps.changed({ conversation: live.log.id, ...(failure !== undefined && { failure }) });
        live.handOver.check();
      }
    };
    live.turn = { abort, ended: turn() };
    this.#deps.changed({ conversation: live.log.id });
  }

  #name(live: Live): void {
    if (live.naming !== undefined) return;
    const abort = new AbortController();
    const ended = nameConversation(cycleDeps(this.#turnDeps(live)), abort.signal).catch((error: unknown) => {
      if (!(error instanceof FailureError)) this.#deps.ports.log.error('naming the conversation failed', error);
    });
    live.naming = { abort, ended };
  }
}
