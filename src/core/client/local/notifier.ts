// Notifications that a client sends: those of a program have its own source, are throttled like those of producers, and
// are critical only if the settings say so.
import { type Disposable, toDisposable } from '../../../base/disposable.ts';
import { type Result, succeeded } from '../../../base/errors.ts';
import { defined } from '../../../base/json/defined.ts';
import { type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type NotificationDraft } from '../../../protocol/notification.ts';
import { scopeOf } from '../../../protocol/scopes.ts';
import { PLUGINS_SCOPE } from '../../notify/dispatcher.ts';
import { type Publisher } from '../../ports/ports.ts';
import { type LocalPorts } from './localPorts.ts';
import { holdOpen } from './owning.ts';

/** The source of a notification without one. */
const UNNAMED = 'client';

type Sent = VerbParams<'notify'>;
type Matched = Result<VerbResult<'notify'>>;

/** With a source it is registered as a producer of that name, so that settings can turn it off like any other. */
export class Notifier implements Disposable {
  readonly #ports: LocalPorts;
  readonly #source: string | undefined;
  readonly #registered: Disposable | undefined;
  #publisher: Publisher | undefined;

  constructor(ports: LocalPorts, source: string | undefined) {
    this.#ports = ports;
    this.#source = source;
    if (source === undefined) this.#publisher = ports.earshot;
    else this.#registered = ports.earshot.producers.register({ name: source, start: (one) => this.#start(one) });
  }

  /** Resolves to the number of conversations that get the notification. */
  async notify(sent: Sent): Promise<Matched> {
    const { conversation } = sent;
    if (conversation === undefined) return this.#publish(sent);
    const opened = await holdOpen(this.#ports, conversation);
    if (!opened.ok) return opened;
    const { live, hold } = opened.value;
    // One that another window owns does not get the notification.
    const matched = live.owned ? this.#publish(sent, conversation) : succeeded({ matched: 0 });
    hold.dispose();
    return matched;
  }

  dispose(): void {
    this.#registered?.dispose();
  }

  #start(publisher: Publisher): Disposable {
    this.#publisher = publisher;
    return toDisposable(() => {
      this.#publisher = undefined;
    });
  }

  #publish({ kind, level, message, subject, scopes, data }: Sent, to?: string): Matched {
    const { earshot, clock } = this.#ports;
    const draft: NotificationDraft = {
      kind: { source: [this.#source ?? [], kind.source ?? []].flat().join('.') || UNNAMED, name: kind.name },
      // Only the settings can make it critical, which would interrupt the model.
      level: level === 'critical' ? 'error' : level,
      message,
      scopes: to === undefined ? [...(scopes ?? [PLUGINS_SCOPE])] : [...(scopes ?? []), scopeOf('conversation', to)],
      origin: 'plugin',
      at: new Date(clock.now()).toISOString(),
      ...defined({ subject, data }),
    };
    const publisher = this.#publisher;
    const matched = publisher === undefined ? 0 : earshot.listeners(draft, to).length;
    // Not awaited: the throttle may hold it if the same subject was reported just before.
    const report = (error: unknown) => this.#ports.logger.error('a notification of a client was not queued', error);
    if (publisher !== undefined && matched > 0) void publisher.publish(draft, to).catch(report);
    return succeeded({ matched });
  }
}
