// Turns that plugins start: starts a turn, follows it to its end, even in another window, and reports the end.
import { type Disposable } from '../../base/disposable.ts';
import { describeFailure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type QueryCompleteData } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { ownHere } from './ownership.ts';

export interface StartedQuery {
  readonly turn: string;
  /** Resolves once the turn has ended and nothing runs for it any more; `seq` is the number of its last event. */
  readonly ended: Promise<{ readonly data: QueryCompleteData; readonly seq: number }>;
}

export type BeginTurn = (earshot: Earshot) => Promise<Result<unknown>>;

export class Queries {
  readonly #ports: PluginPorts;
  /** How many queries run in each conversation. */
  readonly #running = new Map<string, number>();

  constructor(ports: PluginPorts) {
    this.#ports = ports;
  }

  isRunning(conversation: string): boolean {
    return this.#running.has(conversation);
  }

  /** `begin` starts the turn. Resolves once the start is on disk. */
  async start(conversation: string, begin: BeginTurn): Promise<Result<StartedQuery>> {
    const { earshot } = this.#ports;
    const hold = await ownHere(this.#ports, conversation);
    if (!hold.ok) return hold;
    if (earshot.get(conversation)?.running === true) {
      hold.value.dispose();
      return failed('plugin', 'A turn is running in this conversation. Use interrupt.');
    }
    const follower = new QueryFollower(this.#ports, conversation);
    const leave = this.#enter(conversation);
    const end = () => {
      leave();
      follower.dispose();
      hold.value.dispose();
    };
    const begun = await begin(earshot);
    if (!begun.ok) {
      end();
      return begun;
    }
    const turn = earshot.get(conversation)?.log.state.turn.turn ?? '';
    return succeeded({ turn, ended: follower.untilEnded(turn).finally(end) });
  }

  #enter(conversation: string): () => void {
    this.#running.set(conversation, (this.#running.get(conversation) ?? 0) + 1);
    return () => {
      const left = (this.#running.get(conversation) ?? 1) - 1;
      if (left > 0) this.#running.set(conversation, left);
      else this.#running.delete(conversation);
    };
  }
}

/** Reads the end of a turn from the conversation's events, even if another window writes them. */
class QueryFollower implements Disposable {
  readonly #ports: PluginPorts;
  readonly #conversation: string;
  readonly #listening: Disposable;
  readonly #ended = Promise.withResolvers<void>();
  #data: unknown;
  #end: Extract<LogEvent, { type: 'turn_ended' }> | undefined;
  #failure: string | undefined;

  constructor(ports: PluginPorts, conversation: string) {
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

  async untilEnded(turn: string): Promise<{ data: QueryCompleteData; seq: number }> {
    const { earshot } = this.#ports;
    await earshot.ended(this.#conversation);
    // If another window took over during the turn, that window writes the end.
    const isOpen = () => earshot.get(this.#conversation)?.log.state.turn.isOpen === true;
    if (this.#end === undefined && this.#failure === undefined && isOpen()) await this.#ended.promise;
    const end = this.#end;
    const message = end === undefined ? (this.#failure ?? 'The turn did not end in this window.') : describeEnd(end);
    const data: QueryCompleteData = {
      type: 'query_complete',
      turn,
      outcome: end?.outcome ?? 'error',
      ...(end?.outcome === 'done' && this.#data !== undefined && { data: this.#data }),
      ...(message !== undefined && { message }),
    };
    return { data, seq: end?.seq ?? 0 };
  }

  dispose(): void {
    this.#listening.dispose();
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
