// Starts and stops producers according to registration and settings. A producer that fails is restarted with back-off.
import { backOff } from '../../base/async.ts';
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, type Failure } from '../../base/errors.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Clock, type Logger, type Producer, type SeenFiles } from '../ports/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../ports/producers.ts';
import { type Outlet } from './outlet.ts';
import { ThrottledPublisher } from './throttle.ts';

const FIRST_RESTART = 1000;
const LAST_RESTART = 5 * 60_000;
/** A restarted producer that has run for this long is no longer shown as failed. */
const SHOWN_RUNNING_AFTER = 10_000;
/** After running for this much longer, the next failure is logged as a new one. */
const RECOVERED_AFTER = 10 * 60_000;

export interface ProducersDeps {
  readonly producers: readonly Producer[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outlet: Outlet;
  readonly seen: SeenFiles;
  readonly live: LiveConversations;
  settings(): Settings;
}

interface Run {
  readonly producer: Producer;
  /** Undefined while it is stopped. */
  held?: DisposableStore;
  publisher?: ThrottledPublisher;
  /** Runs until the producer is restarted, or has run long enough to count as recovered. */
  timer?: Disposable;
  failures: number;
  failure?: Failure;
}

export class Producers implements Disposable {
  readonly #deps: ProducersDeps;
  /** By the producer's name. */
  readonly #runs = new Map<string, Run>();
  readonly #onDidChange: Emitter<void>;
  readonly #initial = new DisposableStore();
  #ended = false;

  constructor(deps: ProducersDeps) {
    this.#deps = deps;
    this.#onDidChange = new Emitter((error) => deps.logger.error('a listener failed', error));
    for (const producer of deps.producers) this.#initial.add(this.register(producer));
    let live = deps.live.ids();
    this.#initial.add(
      deps.live.onDidChange(() => {
        const before = live;
        live = deps.live.ids();
        for (const closed of before) if (!live.includes(closed)) this.#forget(closed);
      }),
    );
  }

  /** Failures of producers that are not running at the moment, for the user. */
  get problems(): readonly Failure[] {
    return [...this.#runs.values()].flatMap(({ failure }) => failure ?? []);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  /** Starts the producer unless the settings switch its name off. Disposing stops and removes it and frees its name. */
  register(producer: Producer): Disposable {
    const { name } = producer;
    if (this.#runs.has(name)) throw new Error(`a producer named ${name} is registered already`);
    const run: Run = { producer, failures: 0 };
    this.#runs.set(name, run);
    this.#apply(run);
    return toDisposable(() => {
      if (this.#runs.get(name) !== run) return;
      this.#runs.delete(name);
      this.#switchOff(run);
    });
  }

  /** Call after the settings have changed. */
  refresh(): void {
    for (const run of this.#runs.values()) this.#apply(run);
  }

  /**
   * Samples each running producer; one that throws has failed. Also queues the summaries of publications above the
   * limit.
   */
  async sample(point: DeliveryPoint): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    for (const run of [...this.#runs.values()]) {
      const { held } = run;
      if (held === undefined) continue;
      try {
        const sampled = await run.producer.sample?.(point);
        // It may have been stopped meanwhile.
        if (run.held === held) samples.push(...(sampled ?? []));
      } catch (error) {
        if (run.held === held) this.#fail(run, error);
      }
      await run.publisher?.flush(point.conversation);
    }
    return samples;
  }

  dispose(): void {
    this.#ended = true;
    for (const run of [...this.#runs.values()].reverse()) {
      run.timer?.dispose();
      this.#stop(run);
    }
    this.#runs.clear();
    this.#initial.dispose();
    this.#onDidChange.dispose();
  }

  #apply(run: Run): void {
    if (this.#ended) return;
    const isOn = this.#deps.settings()['notifications.producers'][run.producer.name] !== false;
    if (!isOn) this.#switchOff(run);
    else if (run.held === undefined && run.timer === undefined) this.#start(run);
  }

  #start(run: Run): void {
    const { clock, outlet, seen, live } = this.#deps;
    const held = new DisposableStore();
    run.held = held;
    // Disposed in reverse order: the producer ends first, then the publisher publishes what it still holds.
    const publisher = held.add(new ThrottledPublisher({ clock, outlet }));
    run.publisher = publisher;
    // A failure reported after the producer was stopped is ignored.
    const broke = (error: unknown) => run.held === held && this.#fail(run, error);
    try {
      held.add(run.producer.start(publisher, seen, { live, broke }));
    } catch (error) {
      broke(error);
    }
    if (run.held !== held || run.failures === 0) return;
    this.#schedule(run, SHOWN_RUNNING_AFTER, () => {
      this.#setFailure(run, undefined);
      this.#schedule(run, RECOVERED_AFTER, () => {
        run.failures = 0;
      });
    });
  }

  #fail(run: Run, error: unknown): void {
    const { logger } = this.#deps;
    const { name } = run.producer;
    this.#stop(run);
    run.failures += 1;
    const wait = backOff(run.failures, FIRST_RESTART, LAST_RESTART);
    // Logged as an error once; further failures before it has recovered are logged as debug messages.
    if (run.failures === 1) logger.error(`the producer ${name} failed and will be restarted`, error);
    else logger.debug(`the producer ${name} failed again: ${describeError(error)}`);
    this.#schedule(run, wait, () => {
      if (!this.#ended) this.#start(run);
    });
    this.#setFailure(run, {
      code: 'producer',
      message: `The notification source “${name}” is not running: ${describeError(error)}.`,
      nextStep: 'It is restarted automatically. Events in the meantime are not reported.',
    });
  }

  #forget(conversation: string): void {
    for (const { publisher } of this.#runs.values()) publisher?.forget(conversation);
  }

  #switchOff(run: Run): void {
    run.timer?.dispose();
    delete run.timer;
    run.failures = 0;
    this.#stop(run);
    this.#setFailure(run, undefined);
  }

  #stop(run: Run): void {
    const { held } = run;
    delete run.held;
    delete run.publisher;
    try {
      held?.dispose();
    } catch (error) {
      this.#deps.logger.error(`the producer ${run.producer.name} failed to stop`, error);
    }
  }

  #schedule(run: Run, milliseconds: number, then: () => void): void {
    run.timer?.dispose();
    run.timer = this.#deps.clock.after(milliseconds, () => {
      delete run.timer;
      then();
    });
  }

  #setFailure(run: Run, failure: Failure | undefined): void {
    if (run.failure === failure) return;
    if (failure === undefined) delete run.failure;
    else run.failure = failure;
    this.#onDidChange.fire();
  }
}
