// Turns that clients of this window start: starts a turn, follows it to its end, even in another window, and reports the end.
import { type Disposable, DisposableStore, toDisposable } from '../../../base/disposable.ts';
import { describeFailure, failed, type Result, succeeded } from '../../../base/errors.ts';
import { defined } from '../../../base/json/defined.ts';
import { type LogEvent } from '../../../protocol/event.ts';
import { type VerbResult } from '../../../protocol/client/verbs.ts';
import { type TurnEnd } from '../client.ts';
import { type LocalPorts } from './localPorts.ts';
import { ownHere } from './owning.ts';

/** How many ends are remembered for `untilEnded`. */
const REMEMBERED = 1000;

export class StartedTurns implements Disposable {
  readonly #ports: LocalPorts;
  readonly #ends = new Map<string, Promise<TurnEnd>>();
  /** What each running turn holds. */
  readonly #held = new DisposableStore();

  constructor(ports: LocalPorts) {
    this.#ports = ports;
  }

  /** `begin` starts the turn. Resolves once the start is on disk. */
  async start(
    conversation: string,
    begin: () => Promise<Result<unknown>>,
  ): Promise<Result<VerbResult<'send' | 'retry' | 'resend'>>> {
    const { earshot } = this.#ports;
    const hold = await ownHere(this.#ports, conversation);
    if (!hold.ok) return hold;
    if (earshot.get(conversation)?.running === true) {
      hold.value.dispose();
      return failed('plugin', 'A turn is running in this conversation. Use interrupt.');
    }
    const follower = new TurnFollower(this.#ports, conversation);
    const running = this.#held.add(
      toDisposable(() => {
        follower.dispose();
        hold.value.dispose();
      }),
    );
    const begun = await begin();
    if (!begun.ok) {
      this.#held.release(running);
      return begun;
    }
    const turn = earshot.get(conversation)?.log.state.turn.turn ?? '';
    this.#ends.set(
      turn,
      follower.untilEnded().finally(() => this.#held.release(running)),
    );
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > REMEMBERED && oldest !== undefined) this.#ends.delete(oldest);
    return succeeded({ conversation, turn });
  }

  async untilEnded(turn: string): Promise<TurnEnd> {
    return this.#ends.get(turn) ?? { outcome: 'error', message: 'This turn was not started by a client.' };
  }

  /** Releases the conversations: a window that closes does not wait for their turns. */
  dispose(): void {
    this.#held.dispose();
  }
}

/** Reads the end of a turn from the conversation's events, even if another window writes them. */
class TurnFollower implements Disposable {
  readonly #ports: LocalPorts;
  readonly #conversation: string;
  readonly #listening: Disposable;
  readonly #ended = Promise.withResolvers<void>();
  #data: unknown;
  #end: Extract<LogEvent, { type: 'turn_ended' }> | undefined;
  #failure: string | undefined;

  constructor(ports: LocalPorts, conversation: string) {
    this.#ports = ports;
    this.#conversation = conversation;
    const { earshot } = ports;
    const listening = [
      earshot.onDidChange(({ conversation: id, folded, failure }) => {
        if (id !== conversation) return;
        if (folded !== undefined) this.#fold(folded.event);
        if (failure !== undefined) this.#failure = describeFailure(failure);
      }),
      earshot.onDidChangeLive((id) => {
        if (id === conversation && earshot.get(id) === undefined) this.#ended.resolve();
      }),
    ];
    this.#listening = { dispose: () => listening.forEach((one) => one.dispose()) };
  }

  async untilEnded(): Promise<TurnEnd> {
    const { earshot } = this.#ports;
    await earshot.ended(this.#conversation);
    // If another window took over during the turn, that window writes the end.
    const isOpen = () => earshot.get(this.#conversation)?.log.state.turn.isOpen === true;
    if (this.#end === undefined && this.#failure === undefined && isOpen()) await this.#ended.promise;
    const end = this.#end;
    const message = end === undefined ? (this.#failure ?? 'The turn did not end in this window.') : describeEnd(end);
    return {
      outcome: end?.outcome ?? 'error',
      seq: end?.seq ?? 0,
      ...(end?.outcome === 'done' && this.#data !== undefined && { data: this.#data }),
      ...defined({ message }),
    };
  }

  dispose(): void {
    this.#listening.dispose();
    this.#ended.resolve();
  }

  #fold(event: LogEvent): void {
    // Later events belong to other turns.
    if (this.#end !== undefined) return;
    if (event.type === 'chat_response' && event.data !== undefined) this.#data = event.data;
    if (event.type !== 'turn_ended') return;
    this.#end = event;
    this.#ended.resolve();
  }
}

function describeEnd({ failure }: Extract<LogEvent, { type: 'turn_ended' }>): string | undefined {
  if (failure === undefined) return undefined;
  return failure.nextStep === undefined ? failure.message : `${failure.message} ${failure.nextStep}`;
}
