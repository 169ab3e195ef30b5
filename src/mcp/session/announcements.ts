// Follows a server's announcements. In the modern era they come over streams, which are reopened when they break.
import { type Client, type McpSubscription } from '@modelcontextprotocol/client';
import { pause } from '../../base/async.ts';
import { realClock } from '../../node/realClock.ts';

export interface AnnouncementsDeps {
  /** How long reopening a broken stream may take, in milliseconds. */
  readonly within: number;
  isOver(): boolean;
  /** Called after a stream was reopened: announcements may have been missed. */
  missed(): void;
  lost(reason: string): void;
}

const PAUSE = 500;

export class Announcements {
  readonly #client: Client;
  readonly #deps: AnnouncementsDeps;
  #resources: McpSubscription | undefined;
  #watched: readonly string[] = [];

  constructor(client: Client, deps: AnnouncementsDeps) {
    this.#client = client;
    this.#deps = deps;
  }

  /** Call it once the client is connected. The library has opened the stream for changes of lists by then. */
  begin(): void {
    const { honoredFilter } = this.#client.autoOpenedSubscription ?? {};
    const again = () => this.#client.listen(honoredFilter ?? {});
    this.#followLater(this.#client.autoOpenedSubscription, again);
  }

  /** Makes the server announce changes of these resources and no others. */
  async watch(uris: readonly string[]): Promise<void> {
    const before = this.#watched;
    this.#watched = uris;
    if (this.#client.getServerCapabilities()?.resources?.subscribe !== true) return;
    if (this.#client.getProtocolEra() === 'modern') return this.#listenToResources();
    for (const uri of uris) if (!before.includes(uri)) await this.#client.subscribeResource({ uri });
    for (const uri of before) if (!uris.includes(uri)) await this.#client.unsubscribeResource({ uri });
  }

  async #listenToResources(): Promise<void> {
    await this.#resources?.close();
    this.#resources = undefined;
    if (this.#watched.length === 0) return;
    const listen = () => this.#client.listen({ resourceSubscriptions: [...this.#watched] });
    this.#resources = await listen();
    this.#followLater(this.#resources, listen);
  }

  #followLater(subscription: McpSubscription | undefined, again: () => Promise<McpSubscription>): void {
    // Rejects only because of a bug; the connection is not reliable after that.
    this.#follow(subscription, again).catch(() => this.#deps.lost('its event stream cannot be followed'));
  }

  async #follow(subscription: McpSubscription | undefined, again: () => Promise<McpSubscription>): Promise<void> {
    for (let open = subscription; open !== undefined; ) {
      const end = await open.closed;
      if (end === 'local' || this.#deps.isOver()) return;
      open = await this.#reopen(again);
      if (open === undefined) this.#deps.lost('its event stream was lost and could not be opened again');
    }
  }

  async #reopen(again: () => Promise<McpSubscription>): Promise<McpSubscription | undefined> {
    const until = AbortSignal.timeout(this.#deps.within);
    while (!until.aborted && !this.#deps.isOver()) {
      try {
        const opened = await again();
        this.#deps.missed();
        return opened;
      } catch {
        await pause(realClock, PAUSE);
      }
    }
    return undefined;
  }
}
