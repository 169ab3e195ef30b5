// Decides when a turn begins and ends in a live conversation, and what becomes of words and notifications around its end.
import { type Failure, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { Activator } from './agent/activator.ts';
import { closeTurn, recoverTurn } from './agent/calls.ts';
import { cycleDeps, runTurn } from './agent/loop.ts';
import { beginQueuedTurn, beginSystemTurn, beginUserTurn } from './agent/requests.ts';
import { nameConversation } from './agent/titles.ts';
import { TurnControl } from './agent/turnControl.ts';
import { type CallRequest, type Sampling, type TurnDeps } from './agent/turnDeps.ts';
import { type AcceptedText } from './agent/userText.ts';
import { type ConversationChange, storageFailure } from './conversation/liveConversation.ts';
import { type Live } from './live.ts';
import { type QueuedText } from './ports/ports.ts';
import { InstructionsInForce } from './prompt/prompting.ts';
import { Refusals } from './prompt/refusals.ts';
import { UsedConfigs } from './prompt/usedConfigs.ts';
import { type ToolRegistry } from './tools/registry.ts';
import { type Services } from './tools/services.ts';

export interface TurnsDeps {
  readonly ports: Services;
  readonly registry: ToolRegistry;
  changed(change: ConversationChange): void;
  /** What there is to tell at a delivery point of state that nobody watches. */
  sample: Sampling['sample'];
}

/** What became of words: they began a turn, or wait to be carried by the one that runs. */
export type Taken = 'started' | 'queued';

export class Turns {
  readonly #deps: TurnsDeps;
  readonly #used = new UsedConfigs();
  readonly #instructions = new WeakMap<Live, InstructionsInForce>();
  readonly #refusals: Refusals;

  constructor(deps: TurnsDeps) {
    this.#deps = deps;
    this.#refusals = new Refusals(deps.ports);
  }

  /** Starts a turn with the user's words. Resolves once they are on disk, not when the turn ends. */
  async send(live: Live, text: AcceptedText, schema?: Readonly<Record<string, unknown>>): Promise<Result<void>> {
    const unusable = schema && (await import('./prompt/structured.ts')).whyUnusable(schema);
    if (unusable !== undefined) {
      return failed('bad_schema', `schema: it cannot be used: ${unusable}.`, 'Send it again with a plain JSON Schema.');
    }
    return this.#attempt(live, async () => {
      if (live.turn !== undefined) {
        return failed('running', 'The agent is still working.', 'Queue it, interrupt, or stop the turn.');
      }
      await this.#start(live, beginUserTurn(this.#turnDeps(live), { ...text, ...(schema && { schema }) }));
      return succeeded(undefined);
    });
  }

  /**
   * Words while a turn runs: on disk at once, carried by the next tool's result; `interrupt` breaks off what goes on and
   * makes them the next request. If nothing runs (any more), they begin a turn.
   */
  async say(live: Live, text: AcceptedText, how: 'queue' | 'interrupt'): Promise<Result<Taken>> {
    return this.#attempt(live, async () => {
      const { turn } = live;
      if (turn === undefined) {
        await this.#start(live, beginUserTurn(this.#turnDeps(live), text));
        return succeeded('started');
      }
      if (how === 'interrupt' && live.handOver.asking > 0) {
        return failed(
          'asked',
          'Your answer is waited for.',
          'Answer it, reject it with this reason, or queue the text.',
        );
      }
      const { content, attachments = [] } = text;
      const kept = live.log.append({
        type: 'user_text_queued',
        content,
        ...(attachments.length > 0 && { attachments: [...attachments] }),
      });
      live.activator?.userWrote();
      if (how === 'interrupt') turn.control.interrupt('user');
      await kept;
      return succeeded('queued');
    });
  }

  /** Only what no request has carried yet can be taken back. */
  async takeBack(live: Live, id: string): Promise<Result<QueuedText>> {
    return this.#attempt(live, async () => {
      const text = live.log.state.pending.text(id);
      if (text === undefined) return failed('carried', 'The model was told this already.');
      await live.log.append({ type: 'user_text_withdrawn', ids: [id], reason: 'taken back' });
      return succeeded(text);
    });
  }

  /** *Deliver now*: the user's own act, free of limits. What tools are about to return carries it anyway. */
  async deliverNow(live: Live): Promise<Result<void>> {
    return this.#attempt(live, async () => {
      if (live.log.state.pending.count === 0) return failed('nothing_pending', 'Nothing waits to be told.');
      if (live.turn === undefined) await this.#start(live, beginSystemTurn(this.#turnDeps(live), 'user'), false);
      else if (doing(live) === 'answering') live.turn.control.interrupt('event');
      return succeeded(undefined);
    });
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(live: Live): Promise<void> {
    live.turn?.control.stop();
    await live.turn?.ended;
  }

  /** From here on what is queued may wake the model. */
  listen(live: Live): void {
    live.activator = new Activator({
      log: live.log,
      ports: this.#deps.ports,
      doing: () => doing(live),
      wake: () => this.#run(live, beginSystemTurn(this.#turnDeps(live), 'system')),
      interrupt: () => live.turn?.control.interrupt('event'),
      changed: () => this.#deps.changed({ conversation: live.log.id }),
    });
  }

  /** Goes on with a turn that was handed over between two cycles or waits for an approval; others are ended. */
  async takeUp(live: Live, handedOver: boolean): Promise<void> {
    const { turn } = live.log.state;
    const between = handedOver && turn.isOpen && !turn.hasUnanswered;
    const waiting = between ? [] : await recoverTurn(this.#turnDeps(live));
    if (between || waiting.length > 0) this.#run(live, Promise.resolve(), waiting);
    else await this.giveBack(live);
    live.activator?.reconsider();
  }

  /** What no turn will carry any more returns to whoever wrote it; what nobody takes stays pending. */
  async giveBack(live: Live): Promise<void> {
    const { log } = live;
    for (let { texts } = log.state.pending; texts.length > 0; { texts } = log.state.pending) {
      if (!(await live.handOver.giveBack(log.id, texts))) return;
      const ids = texts.map((text) => text.id);
      await log.append({ type: 'user_text_withdrawn', ids, reason: 'the turn ended before it was told' });
    }
  }

  /** After a failed write. The turn that it ended is still open in the log: it is closed with all its calls. */
  async repair(live: Live): Promise<void> {
    const mend = async () => {
      await live.log.repair();
      await live.turn?.ended;
      await closeTurn(this.#turnDeps(live), 'The log could not be written');
    };
    if (live.log.isBroken || (live.turn === undefined && live.log.state.turn.isOpen)) {
      live.repairing ??= mend().finally(() => {
        delete live.repairing;
      });
    }
    await live.repairing;
  }

  async #attempt<T>(live: Live, action: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      await this.repair(live);
      return await action();
    } catch (error) {
      return storageFailure(error);
    }
  }

  async #start(live: Live, started: Promise<void>, written = true): Promise<void> {
    if (written) live.activator?.userWrote();
    this.#run(live, started);
    await started;
  }

  #turnDeps(live: Live): TurnDeps {
    const { ports, registry } = this.#deps;
    const { log, edits, captures, handOver: frontend } = live;
    const sampling = { used: this.#used, sample: this.#deps.sample };
    const instructions = this.#instructions.get(live) ?? new InstructionsInForce();
    this.#instructions.set(live, instructions);
    const shared = { sampling, instructions, refusals: this.#refusals, ...(captures && { captures }) };
    return { log, registry, edits, ports: { ...ports, frontend }, ...shared };
  }

  /** `started` is what must be on disk before the first model call; `resumed` are calls that waited for an answer. */
  #run(live: Live, started: Promise<void> = Promise.resolve(), resumed: readonly CallRequest[] = []): void {
    const control = new TurnControl();
    let failure: Failure | undefined;
    const turn = async () => {
      let done = false;
      try {
        await started;
        const end = await runTurn(this.#turnDeps(live), control, resumed);
        done = end.outcome === 'done' && !control.isStopped;
        if (done) this.#name(live);
        else await this.giveBack(live);
      } catch (error) {
        // Nothing more can be written; after the window's end nobody needs to hear of it.
        if (error instanceof FailureError && error.failure.code === 'storage') failure = error.failure;
        await this.#gaveUp(live, error);
      } finally {
        this.#ended(live, done, failure);
      }
    };
    live.turn = { control, ended: turn() };
    this.#deps.changed({ conversation: live.log.id });
  }

  /** Closes the turn if the log still can be written; otherwise that is done once it can be again. */
  async #gaveUp(live: Live, error: unknown): Promise<void> {
    const { logger } = this.#deps.ports;
    const expected = error instanceof FailureError;
    if (!expected) logger.error('the turn failed unexpectedly', error);
    if (live.log.isBroken || (expected && error.failure.code !== 'storage')) return;
    const report = (again: unknown) => {
      if (!(again instanceof FailureError)) logger.error('the turn could not be closed', again);
    };
    await closeTurn(this.#turnDeps(live), 'Earshot failed').catch(report);
  }

  /** From here to the look at what is pending there is no await: whatever was queued before is seen, whatever comes later looks itself. */
  #ended(live: Live, done: boolean, failure: Failure | undefined): void {
    delete live.turn;
    try {
      if (!live.handOver.check() && live.log.owned) {
        if (done && live.log.state.pending.texts.length > 0) this.#run(live, beginQueuedTurn(this.#turnDeps(live)));
        else if (failure === undefined) live.activator?.reconsider();
      }
    } catch (error) {
      this.#deps.ports.logger.error('what follows a turn failed unexpectedly', error);
    }
    this.#tell(live, failure);
  }

  #tell(live: Live, failure: Failure | undefined): void {
    this.#deps.changed({ conversation: live.log.id, ...(failure !== undefined && { failure }) });
  }

  #name(live: Live): void {
    if (live.naming !== undefined) return;
    const abort = new AbortController();
    const ended = nameConversation(cycleDeps(this.#turnDeps(live)), abort.signal).catch((error: unknown) => {
      if (!(error instanceof FailureError)) this.#deps.ports.logger.error('naming the conversation failed', error);
    });
    live.naming = { abort, ended };
  }
}

function doing({ turn, log }: Live): 'nothing' | 'answering' | 'busy' {
  if (turn === undefined) return 'nothing';
  return turn.control.phase === 'tools' || log.state.turn.unanswered.length > 0 ? 'busy' : 'answering';
}
