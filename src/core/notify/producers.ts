// Decides which producers run: as the settings say, at once; one that breaks is stopped, reported once and started again with back-off.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError, type Failure } from '../../base/errors.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Clock, type Logger, type Producer, type SeenFiles } from '../ports/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../ports/producers.ts';
import { ThrottledPublisher, type Outlet } from './throttle.ts';

const FIRST_RESTART = 1000;
const LAST_RESTART = 5 * 60_000;
/** One that has run for this long listens again, as far as people need to know. */
const LISTENS_AFTER = 10_000;
/** And after this long the next break is a new one. */
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
  calm?: ThrottledPublisher;
  /** Until it is started again, or has run long enough to count as recovered. */
  timer?: Disposable;
  breaks: number;
  failure?: Failure;
}

export class Producers implements Disposable {
  readonly #deps: ProducersDeps;
  readonly #runs: readonly Run[];
  readonly #onDidChange: Emitter<void>;
  #ended = false;

  constructor(deps: ProducersDeps) {
    this.#deps = deps;
    this.#onDidChange = new Emitter((error) => deps.logger.error('a listener failed', error));
    this.#runs = deps.producers.map((producer) => ({ producer, breaks: 0 }));
    this.refresh();
  }

  /** What does not listen now, for people. */
  get problems(): readonly Failure[] {
    return this.#runs.flatMap(({ failure }) => failure ?? []);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  /** After the settings changed. */
  refresh(): void {
    if (this.#ended) return;
    const switches: Readonly<Record<string, boolean | undefined>> = this.#deps.settings()['notifications.producers'];
    for (const run of this.#runs) {
      const wanted = switches[run.producer.name] !== false;
      if (!wanted) this.#switchOff(run);
      else if (run.held === undefined && run.timer === undefined) this.#start(run);
    }
  }

  /** Asks each that runs; one that throws has broken. What was too much for one minute is queued then. */
  async sample(point: DeliveryPoint): Promise<readonly Sample[]> {
    const samples: Sample[] = [];
    for (const run of this.#runs) {
      if (run.held === undefined) continue;
      try {
        samples.push(...((await run.producer.sample?.(point)) ?? []));
      } catch (error) {
        this.#broke(run, error);
      }
      await run.calm?.flush(point.conversation);
    }
    return samples;
  }

  dispose(): void {
    this.#ended = true;
    for (const run of [...this.#runs].reverse()) {
      run.timer?.dispose();
      this.#stop(run);
    }
    this.#onDidChange.dispose();
  }

  #start(run: Run): void {
    const { clock, outlet, seen, live } = this.#deps;
    const held = new DisposableStore();
    run.held = held;
    // Released in reverse order: the producer ends first, then what was still held back goes out.
    const calm = held.add(new ThrottledPublisher({ clock, outlet }));
    run.calm = calm;
    // What it says after it was stopped is an echo.
    const broke = (error: unknown) => run.held === held && this.#broke(run, error);
    try {
      held.add(run.producer.start(calm, seen, { live, broke }));
    } catch (error) {
      broke(error);
    }
    if (run.held !== held || run.breaks === 0) return;
    this.#after(run, LISTENS_AFTER, () => {
      this.#setFailure(run, undefined);
      this.#after(run, RECOVERED_AFTER, () => {
        run.breaks = 0;
      });
    });
  }

  #broke(run: Run, error: unknown): void {
    const { logger } = this.#deps;
    const { name } = run.producer;
    this.#stop(run);
    run.breaks += 1;
    const wait = Math.min(LAST_RESTART, FIRST_RESTART * 2 ** (run.breaks - 1));
    // Once: that it breaks again while it is being tried is no news.
    if (run.breaks === 1) logger.error(`the producer ${name} broke and is started again in a while`, error);
    else logger.debug(`the producer ${name} broke again: ${describeError(error)}`);
    this.#after(run, wait, () => {
      if (!this.#ended) this.#start(run);
    });
    this.#setFailure(run, {
      code: 'producer',
      message: `Earshot cannot listen to ${name} now: ${describeError(error)}.`,
      nextStep: 'It is tried again by itself; what it misses meanwhile is not told.',
    });
  }

  #switchOff(run: Run): void {
    run.timer?.dispose();
    delete run.timer;
    run.breaks = 0;
    this.#stop(run);
    this.#setFailure(run, undefined);
  }

  #stop(run: Run): void {
    const { held } = run;
    delete run.held;
    delete run.calm;
    try {
      held?.dispose();
    } catch (error) {
      this.#deps.logger.error(`the producer ${run.producer.name} did not end well`, error);
    }
  }

  #after(run: Run, milliseconds: number, then: () => void): void {
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
