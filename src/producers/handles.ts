// Reports to the owner of a background command that it ended, was lost, or seems to wait for input.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type Handle } from '../core/ports/handles.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../core/ports/ports.ts';
import { type Sample } from '../core/ports/producers.ts';
import { type Handles } from '../core/tools/handles.ts';
import { describeStillRunning, draftHandleNotification, handleSubject } from '../core/tools/handleTexts.ts';
import { KINDS, type ShippedKind } from '../protocol/kinds.ts';

export interface HandlesProducerDeps {
  readonly handles: Handles;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Resolves once all its lines were searched, to what its end should say about them. */
  ended?(handle: Handle): Promise<string>;
}

export function createHandlesProducer(deps: HandlesProducerDeps): Producer {
  return {
    name: 'handles',
    start: (publisher) => new HandlesWatch(deps, publisher),
    sample: (point) => sampleRunning(deps.handles, point.conversation),
  };
}

const RUNNING = 'tool.running' satisfies ShippedKind;

/** Sampled at the first delivery point after a restart, so that the list is true at that time. */
function sampleRunning(handles: Handles, conversation: string): readonly Sample[] {
  const running = handles.stillRunning(conversation);
  handles.saidStillRunning(conversation);
  if (running.length === 0) return [];
  const { level, origin } = KINDS[RUNNING];
  const draft = { level, origin, message: describeStillRunning(running), data: { tool: 'run_command' } };
  return [{ kind: { source: 'tool', name: 'running' }, subject: 'handles', draft }];
}

class HandlesWatch implements Disposable {
  readonly #deps: HandlesProducerDeps;
  readonly #publisher: Publisher;
  readonly #held = new DisposableStore();
  /** Handles that were reported as waiting for input. */
  readonly #waiting = new Set<Handle>();

  constructor(deps: HandlesProducerDeps, publisher: Publisher) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#held.add(deps.handles.onDidChange(({ type, handle }) => type === 'state' && this.#changed(handle)));
  }

  dispose(): void {
    this.#held.dispose();
  }

  #changed(handle: Handle): void {
    const { name } = handle;
    if (name === undefined) return;
    const report = (error: unknown) => this.#deps.logger.error('a background command could not be reported', error);
    // A command that ended while no window owned it may have been reported as waiting before.
    if (handle.state !== 'waiting' && (this.#waiting.delete(handle) || handle.hasEnded)) {
      const kind = { source: 'tool', name: 'waiting' };
      void this.#publisher.withdraw(kind, handleSubject(name), 'it went on', handle.conversation).catch(report);
    }
    if (handle.state === 'waiting') this.#waiting.add(handle);
    if (handle.state !== 'running') void this.#publishState(handle, name).catch(report);
  }

  /** The queue drops the notification if the model already knows the state. */
  async #publishState(handle: Handle, name: string): Promise<void> {
    const { state } = handle;
    const note = handle.hasEnded ? await this.#deps.ended?.(handle) : undefined;
    const draft = await draftHandleNotification(handle, name, new Date(this.#deps.clock.now()).toISOString(), note);
    // The state may have changed while the last lines were read.
    if (draft !== undefined && handle.state === state) await this.#publisher.publish(draft, handle.conversation);
  }
}
