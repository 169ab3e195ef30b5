// Follows what a server announces by itself: in the newer era over streams that are opened again when they break.
import { type Client, type McpSubscription } from '@modelcontextprotocol/client';

export interface AnnouncementsDeps {
  /** How long a broken stream may take to be opened again. */
  readonly within: number;
  isOver(): boolean;
  /** Something may have been announced while a stream was broken. */
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

  /** Once it is connected. The library has opened the stream for changes of lists. */
  begin(): void {
    const { honoredFilter } = this.#client.autoOpenedSubscription ?? {};
    const again = () => this.#client.listen(honoredFilter ?? {});
    this.#followLater(this.#client.autoOpenedSubscription, again);
  }

  /** Only changes of these resources are announced. */
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
    // Rejects only through a bug, after which the connection cannot be relied on.
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
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
    return undefined;
  }
}
