// Starts and ends the turns of live conversations, and handles queued messages and notifications around their end.
import { DisposableStore } from '../base/disposable.ts';
import { type Failure, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { Activator } from './agent/activator.ts';
import { closeTurn, recoverTurn } from './agent/calls.ts';
import { compactTurn, cycleDeps, runTurn } from './agent/loop.ts';
import { beginQueuedTurn, beginSystemTurn, beginUserTurn } from './agent/delivery.ts';
import { nameConversation } from './agent/titles.ts';
import { TurnControl } from './agent/turnControl.ts';
import { type Sampling, type TurnDeps, type TurnEnd } from './agent/turnDeps.ts';
import { type AcceptedText } from './agent/userText.ts';
import { withChosen } from './conversation/choices.ts';
import { type ConversationChange, storageFailure } from './conversation/liveConversation.ts';
import { OutsideTree } from './conversation/outside/outsideTree.ts';
import { type ConversationChoice } from '../protocol/page/controlsView.ts';
import { type Live } from './live.ts';
import { type QueuedMessage } from './ports/ports.ts';
import { compactFocus } from './prompt/builtInSkills.ts';
import { PromptState } from './prompt/promptState.ts';
import { Refusals } from './prompt/refusals.ts';
import { type ToolRegistry } from './tools/registry.ts';
import { type Services } from './tools/services.ts';
import { ofConversation } from './tools/subagentLimits.ts';

export interface TurnsDeps {
  readonly ports: Services;
  readonly registry: ToolRegistry;
  changed(change: ConversationChange): void;
  readonly producers: Sampling['producers'];
}

/** Whether a message started a turn, or is queued for the running one. */
export type MessageOutcome = 'started' | 'queued';

export class Turns {
  readonly #deps: TurnsDeps;
  /** What the turns of a conversation share. */
  readonly #shared = new WeakMap<Live, { readonly prompt: PromptState; readonly outside: OutsideTree }>();
  readonly #refusals: Refusals;

  constructor(deps: TurnsDeps) {
    this.#deps = deps;
    this.#refusals = new Refusals(deps.ports);
  }

  /** Starts a turn with the user's message. Resolves once it is on disk, not when the turn ends. */
  async send(live: Live, text: AcceptedText, schema?: Readonly<Record<string, unknown>>): Promise<Result<void>> {
    const focus = compactFocus(text.content);
    if (focus !== undefined) return this.#compact(live, focus, undefined);
    const unusable = schema && (await import('./prompt/structured.ts')).whyUnusable(schema);
    if (unusable !== undefined) {
      return failed('bad_schema', `schema: it cannot be used: ${unusable}.`, 'Send it again with a plain JSON Schema.');
    }
    return this.#attempt(live, async () => {
      if (live.turn !== undefined) {
        return failed('running', 'The agent is still working.', 'Queue it, interrupt, or stop the turn.');
      }
      await this.#start(live, beginUserTurn(this.#turnDeps(live), { ...text, ...defined({ schema }) }));
      return succeeded(undefined);
    });
  }

  /**
   * Accepts a message during a turn: it is on disk at once and delivered with the next tool result. `interrupt` aborts
   * what the turn is doing and makes the message the next request. If no turn is running, the message starts one.
   */
  async queueOrInterrupt(live: Live, text: AcceptedText, how: 'queue' | 'interrupt'): Promise<Result<MessageOutcome>> {
    const focus = compactFocus(text.content);
    if (focus !== undefined) return this.#compact(live, focus, 'started');
    return this.#attempt(live, async () => {
      const { turn } = live;
      if (turn === undefined) {
        await this.#start(live, beginUserTurn(this.#turnDeps(live), text));
        return succeeded('started');
      }
      if (how === 'interrupt' && live.handOver.asking > 0) {
        return failed(
          'asked',
          'Earshot is waiting for your answer.',
          'Answer, reject with this text as the reason, or queue the text.',
        );
      }
      const { content, attachments = [] } = text;
      const kept = live.log.append({
        type: 'user_text_queued',
        content,
        ...defined({ typed: text.typed }),
        ...(attachments.length > 0 && { attachments: [...attachments] }),
      });
      live.activator?.userWrote();
      if (how === 'interrupt') turn.control.interrupt('user');
      await kept;
      return succeeded('queued');
    });
  }

  /** Only a message that no request has delivered yet can be withdrawn. */
  async withdrawMessage(live: Live, id: string): Promise<Result<QueuedMessage>> {
    return this.#attempt(live, async () => {
      const text = live.log.state.pending.queuedMessage(id);
      if (text === undefined) return failed('carried', 'This message was already delivered to the model.');
      await live.log.append({ type: 'user_text_withdrawn', ids: [id], reason: 'withdrawn by the user' });
      return succeeded(text);
    });
  }

  /** From the next request on; an open approval is judged again. */
  async choose(live: Live, choice: ConversationChoice): Promise<Result<void>> {
    return this.#attempt(live, async () => {
      await live.log.append({ type: 'choice_made', ...withChosen({}, choice) });
      live.activator?.reconsider();
      return succeeded(undefined);
    });
  }

  /** *Deliver Now*: the user starts it, so no limits apply. Running tools deliver with their results anyway. */
  async deliverNow(live: Live): Promise<Result<void>> {
    return this.#attempt(live, async () => {
      if (live.log.state.pending.count === 0) return failed('nothing_pending', 'There are no pending notifications.');
      if (live.turn === undefined) await this.#start(live, beginSystemTurn(this.#turnDeps(live), 'user'), false);
      else if (activityOf(live) === 'answering') live.turn.control.interrupt('delivery');
      return succeeded(undefined);
    });
  }

  /** Withdraws pending notifications; all of them or none. */
  async withdraw(live: Live, ids: readonly string[], reason: string): Promise<Result<void>> {
    return this.#attempt(live, async () => {
      const { pending } = live.log.state;
      const unknown = ids.find((one) => pending.get(one) === undefined);
      if (unknown !== undefined) return failed('carried', `No notification with the id “${unknown}” is pending.`);
      await live.log.append({ type: 'notification_withdrawn', ids: [...new Set(ids)], reason });
      return succeeded(undefined);
    });
  }

  /** Continues after a failed turn, with the same messages, at the user's request. */
  async retry(live: Live): Promise<Result<void>> {
    return this.#attempt(live, async () => {
      if (live.turn !== undefined) return failed('running', 'The agent is still working.');
      const { messages, turn } = live.log.state;
      const isAnswered = messages.count === 0 || messages.all.at(-1)?.role === 'assistant';
      if (turn.outcome !== 'error' || isAnswered)
        return failed('nothing', 'There is nothing to retry. Write a message.');
      const started = live.log.append({ type: 'turn_started', source: 'user' }).then(() => undefined);
      await this.#start(live, started);
      return succeeded(undefined);
    });
  }

  /** `/compact`: a turn that only makes a summary. `focus`: what it must keep above all; may be empty. */
  async #compact<T>(live: Live, focus: string, result: T): Promise<Result<T>> {
    return this.#attempt(live, async () => {
      if (live.turn !== undefined)
        return failed('running', 'The agent is still working.', 'Stop it or wait, then compact.');
      if (live.log.state.messages.count === 0) return failed('nothing', 'There is nothing to compact yet.');
      const started = live.log.append({ type: 'turn_started', source: 'user' }).then(() => undefined);
      live.activator?.userWrote();
      this.#run(live, started, (deps, control) => compactTurn(deps, control, focus));
      await started;
      return succeeded(result);
    });
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(live: Live): Promise<void> {
    live.turn?.control.stop();
    await live.turn?.ended;
  }

  /** After this, queued notifications may wake the model. */
  startActivator(live: Live): void {
    live.activator = new Activator({
      log: live.log,
      ports: { ...this.#deps.ports, ...this.#chosen(live) },
      doing: () => activityOf(live),
      wake: () => this.#run(live, beginSystemTurn(this.#turnDeps(live), 'system')),
      interrupt: () => live.turn?.control.interrupt('event'),
      changed: () => this.#deps.changed({ conversation: live.log.id }),
    });
  }

  /** Continues a turn that was handed over between two cycles or waits for an approval; ends any other. */
  async resume(live: Live, handedOver: boolean): Promise<void> {
    const { turn } = live.log.state;
    const between = handedOver && turn.isOpen && !turn.hasUnanswered;
    const waiting = between ? [] : await recoverTurn(this.#turnDeps(live));
    if (between || waiting.length > 0)
      this.#run(live, Promise.resolve(), (deps, control) => runTurn(deps, control, waiting));
    else await this.returnMessages(live);
    live.activator?.reconsider();
  }

  /**
   * Returns queued messages that no turn will deliver to a front end; messages that no front end accepts stay queued.
   */
  async returnMessages(live: Live): Promise<void> {
    const { log } = live;
    for (let texts = log.state.pending.queuedMessages; texts.length > 0; texts = log.state.pending.queuedMessages) {
      if (!(await this.#deps.ports.frontend.returnMessages(log.id, texts))) return;
      const ids = texts.map((text) => text.id);
      await log.append({ type: 'user_text_withdrawn', ids, reason: 'the turn ended before it was delivered' });
    }
  }

  /** Call after a failed write. The turn that it ended is still open in the log: closes the turn and all its calls. */
  async repair(live: Live): Promise<void> {
    const repair = async () => {
      await live.log.repair();
      await live.turn?.ended;
      await closeTurn(this.#turnDeps(live), 'The log could not be written');
    };
    if (live.log.isBroken || (live.turn === undefined && live.log.state.turn.isOpen)) {
      live.repairing ??= repair().finally(() => {
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
    const { ports } = this.#deps;
    const { log, edits, captures } = live;
    const { registry } = ofConversation(this.#deps, log);
    const sampling = { producers: this.#deps.producers };
    const shared = this.#shared.get(live) ?? { prompt: new PromptState(), outside: new OutsideTree(ports.store) };
    this.#shared.set(live, shared);
    const more = { sampling, refusals: this.#refusals, ...defined({ captures }) };
    return { log, registry, edits, ports: { ...ports, ...this.#chosen(live) }, ...shared, ...more };
  }

  /** The ports as they hold in this conversation, also after a choice that is made during the turn. */
  #chosen({ log }: Live): Pick<Services, 'model' | 'settings' | 'onDidChangeSettings'> {
    const { onDidChangeSettings } = this.#deps.ports;
    return {
      model: () => ofConversation(this.#deps, log).model(),
      settings: () => ofConversation(this.#deps, log).settings(),
      onDidChangeSettings: (listener) => {
        const held = new DisposableStore();
        if (onDidChangeSettings !== undefined) held.add(onDidChangeSettings(listener));
        held.add(log.onDidAppend(({ event }) => event.type === 'choice_made' && listener()));
        return held;
      },
    };
  }

  /** `started`: resolves once the request is on disk. */
  #run(
    live: Live,
    started: Promise<void>,
    work: (deps: TurnDeps, control: TurnControl) => Promise<TurnEnd> = runTurn,
  ): void {
    const control = new TurnControl();
    let failure: Failure | undefined;
    const turn = async () => {
      let done = false;
      try {
        await started;
        const end = await work(this.#turnDeps(live), control);
        done = end.outcome === 'done' && !control.isStopped;
        if (done) this.#name(live);
        else await this.returnMessages(live);
      } catch (error) {
        // Nothing more can be written.
        if (error instanceof FailureError && error.failure.code === 'storage') failure = error.failure;
        await this.#closeFailed(live, error);
      } finally {
        this.#ended(live, done, failure);
      }
    };
    live.turn = { control, ended: turn() };
    this.#deps.changed({ conversation: live.log.id });
  }

  /** Closes the turn if the log can be written; otherwise `repair` does so later. */
  async #closeFailed(live: Live, error: unknown): Promise<void> {
    const { logger } = this.#deps.ports;
    const expected = error instanceof FailureError;
    if (!expected) logger.error('the turn failed unexpectedly', error);
    if (live.log.isBroken || (expected && error.failure.code !== 'storage')) return;
    const report = (again: unknown) => {
      if (!(again instanceof FailureError)) logger.error('the turn could not be closed', again);
    };
    await closeTurn(this.#turnDeps(live), 'Earshot failed').catch(report);
  }

  /**
   * No await before the activator checks: it sees everything queued so far, and later notifications cause their own
   * check.
   */
  #ended(live: Live, done: boolean, failure: Failure | undefined): void {
    delete live.turn;
    try {
      if (!live.handOver.check() && live.log.owned) {
        if (done && live.log.state.pending.queuedMessages.length > 0)
          this.#run(live, beginQueuedTurn(this.#turnDeps(live)));
        else if (failure === undefined) live.activator?.reconsider();
      }
    } catch (error) {
      this.#deps.ports.logger.error('an action after the end of a turn failed unexpectedly', error);
    }
    this.#notifyChanged(live, failure);
  }

  #notifyChanged(live: Live, failure: Failure | undefined): void {
    this.#deps.changed({ conversation: live.log.id, ...defined({ failure }) });
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

function activityOf({ turn, log }: Live): 'nothing' | 'answering' | 'busy' {
  if (turn === undefined) return 'nothing';
  return turn.control.phase === 'tools' || log.state.turn.unanswered.length > 0 ? 'busy' : 'answering';
}
