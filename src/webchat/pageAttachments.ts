// The attachments of the next message on one page: images, which Earshot stores at once, and files of the workspace.
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type RequestOf } from '../protocol/plugin.ts';
import { type AttachmentView, type FromPage } from '../protocol/webview.ts';

const MOST_ATTACHMENTS = 20;

type Given = NonNullable<RequestOf<'query'>['attachments']>[number];

interface Kept {
  readonly view: AttachmentView;
  readonly given: Given;
}

export interface TakenAttachments {
  readonly attachments?: Given[];
  /** Call if the message was not accepted. */
  returnAttachments(): void;
}

export class PageAttachments {
  readonly #client: Pick<PluginClient, 'request'>;
  readonly #show: (views: readonly AttachmentView[]) => void;
  /** By conversation; the key is empty for a new chat. */
  readonly #kept = new Map<string, readonly Kept[]>();
  #conversation = '';

  constructor(client: Pick<PluginClient, 'request'>, show: (views: readonly AttachmentView[]) => void) {
    this.#client = client;
    this.#show = show;
  }

  /** Call when the page shows another conversation, or a new chat. */
  showOf(conversation: string | undefined): void {
    this.#conversation = conversation ?? '';
    this.#draw();
  }

  async attachImage(image: Extract<FromPage, { type: 'attach_image' }>): Promise<void> {
    const { media_type: type, data, preview } = image;
    const name = image.name === '' ? 'image' : image.name;
    const { hash } = await this.#client.request('store_image', { media_type: type, data });
    this.#add({
      view: { id: hash, kind: 'image', name, ...(preview !== undefined && { preview }) },
      given: { type: 'image', media_type: type, hash, name },
    });
  }

  attachFile(path: string): void {
    this.#add({ view: { id: path, kind: 'file', name: path }, given: { type: 'file', path } });
  }

  detach(id: string): void {
    this.#set(this.#all.filter(({ view }) => view.id !== id));
  }

  take(): TakenAttachments {
    const taken = this.#all;
    const conversation = this.#conversation;
    this.#set([]);
    return {
      ...(taken.length > 0 && { attachments: taken.map(({ given }) => given) }),
      returnAttachments: () => {
        this.#kept.set(conversation, [...taken, ...(this.#kept.get(conversation) ?? [])]);
        this.#draw();
      },
    };
  }

  get #all(): readonly Kept[] {
    return this.#kept.get(this.#conversation) ?? [];
  }

  #add(one: Kept): void {
    const others = this.#all.filter(({ view }) => view.id !== one.view.id);
    if (others.length >= MOST_ATTACHMENTS)
      throw new Error(`A message can have at most ${MOST_ATTACHMENTS} attachments.`);
    this.#set([...others, one]);
  }

  #set(kept: readonly Kept[]): void {
    this.#kept.set(this.#conversation, kept);
    this.#draw();
  }

  #draw(): void {
    this.#show(this.#all.map(({ view }) => view));
  }
}
