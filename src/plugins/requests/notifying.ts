// Notifications from a plugin: they have their own source, are throttled like those of producers, and are critical
// only if the settings say so.
import { type Disposable } from '../../base/disposable.ts';
import { PLUGINS_SCOPE } from '../../core/notify/dispatcher.ts';
import { type Publisher } from '../../core/ports/ports.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { scopeOf } from '../../protocol/scopes.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, reply } from './answer.ts';

/** Registered as a producer named `plugin.<name>`, so that settings can turn it off like any other. */
export class PluginNotifier implements Disposable {
  readonly #ports: PluginPorts;
  readonly #source: string;
  readonly #registered: Disposable;
  #publisher: Publisher | undefined;

  constructor(ports: PluginPorts, plugin: string) {
    this.#ports = ports;
    this.#source = `plugin.${plugin}`;
    this.#registered = ports.earshot.producers.register({
      name: this.#source,
      start: (publisher) => {
        this.#publisher = publisher;
        return {
          dispose: () => {
            this.#publisher = undefined;
          },
        };
      },
    });
  }

  /** Answers with the number of conversations that get the notification. */
  async notify(request: RequestOf<'notify'>): Promise<Answer> {
    const { conversation } = request;
    if (conversation === undefined) return this.#publish(request);
    const { earshot, keepAlive, store } = this.#ports;
    const isLive = earshot.get(conversation) !== undefined;
    const end = isLive ? undefined : await store.end(conversation);
    if (end?.ok === false) return end;
    const hold = keepAlive.hold(conversation, !isLive);
    try {
      // Opens the conversation if needed. One that another window owns does not get the notification.
      const opened = await earshot.open(conversation);
      if (!opened.ok) return opened;
      return opened.value.owned ? this.#publish(request, conversation) : reply({ type: 'done', matched: 0 });
    } finally {
      hold.dispose();
    }
  }

  dispose(): void {
    this.#registered.dispose();
  }

  #publish({ kind, level, message, subject, scopes, data }: RequestOf<'notify'>, to?: string): Answer {
    const { earshot, clock } = this.#ports;
    const draft: NotificationDraft = {
      kind: { source: kind.source === undefined ? this.#source : `${this.#source}.${kind.source}`, name: kind.name },
      // Only the settings can make a plugin's notification critical.
      level: level === 'critical' ? 'error' : level,
      message,
      scopes: to === undefined ? (scopes ?? [PLUGINS_SCOPE]) : [...(scopes ?? []), scopeOf('conversation', to)],
      origin: 'plugin',
      at: new Date(clock.now()).toISOString(),
      ...(subject !== undefined && { subject }),
      ...(data !== undefined && { data }),
    };
    const publisher = this.#publisher;
    const matched = publisher === undefined ? 0 : earshot.listeners(draft, to).length;
    // Not awaited: the throttle may hold it if the same subject was reported just before.
    const report = (error: unknown) => this.#ports.logger.error('a notification of a plugin was not queued', error);
    if (publisher !== undefined && matched > 0) void publisher.publish(draft, to).catch(report);
    return reply({ type: 'done', matched });
  }
}
