// The composer's text, attachments and returned messages for each conversation, kept over reloads.
import * as z from 'zod';
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { defined } from '../../../base/json/defined.ts';
import { type SentAttachment } from '../../../protocol/client/verbs.ts';
import { resourceName } from '../../../protocol/scopes.ts';
import { type AttachmentView, type FromPage } from '../../../protocol/webview.ts';
import { type Client } from '../../client/client.ts';
import { attachmentName } from '../../conversation/attachments.ts';
import { type Logger, type QueuedMessage } from '../../ports/ports.ts';
import { type ChatFrontend } from '../chatFrontend.ts';

const LARGEST_IMAGE = 10_000_000;
const MOST_ATTACHMENTS = 20;

const keptSchema = z.array(
  z.strictObject({
    id: z.string(),
    kind: z.enum(['image', 'file', 'text', 'resource']),
    name: z.string(),
    mediaType: z.string().optional(),
    preview: z.string().optional(),
    /** The content of an attachment of kind `text`, which becomes part of the message. */
    text: z.string().optional(),
    /** Set for the kind `resource`. */
    resource: z.strictObject({ server: z.string(), uri: z.string(), content: z.string() }).optional(),
  }),
);
type StoredAttachment = z.infer<typeof keptSchema>[number];
export type AttachedResource = NonNullable<StoredAttachment['resource']>;
const returnedSchema = z.array(z.string());

export interface KeptText {
  /** Empty if nothing is kept. */
  read(): Promise<string>;
  /** Resolves once it is kept; the newest text wins. */
  write(text: string): Promise<void>;
}

/** What is kept of a composer: its text, its attachments, and the ids of messages that were returned to it. */
export type Drafts = Readonly<Record<'text' | 'attachments' | 'returned', KeptText>>;

/** The drafts of a conversation, or of a new chat. Always the same object for the same conversation. */
export type DraftsOf = (conversation: string | undefined) => Drafts;

/** Translates. */
export type Translate = (text: string, ...values: (string | number)[]) => string;

export interface PageComposerDeps {
  readonly t: Translate;
  readonly draftsOf: DraftsOf;
  readonly client: Pick<Client, 'call'>;
  readonly frontend: Pick<ChatFrontend, 'setHead' | 'restoreDraft' | 'keepDraft'>;
  readonly logger: Logger;
  didType?(): void;
}

/** A queued message, or one of the log. */
type RestoredMessage = Pick<QueuedMessage, 'content' | 'typed'> & {
  readonly attachments?: readonly SentAttachment[] | undefined;
};

export class PageComposer {
  readonly #deps: PageComposerDeps;
  #conversation: string | undefined;
  #drafts: Drafts;
  #text = '';
  #kept: readonly StoredAttachment[] = [];
  /** Ids of queued messages that were returned and neither sent nor cleared since. */
  #returned: readonly string[] = [];

  constructor(deps: PageComposerDeps) {
    this.#deps = deps;
    this.#drafts = deps.draftsOf(undefined);
  }

  /** Restores text, attachments and returned messages of this conversation, or of a new chat. Resolves to the text. */
  async show(conversation: string | undefined): Promise<string> {
    const drafts = this.#deps.draftsOf(conversation);
    const [text, attached, returned] = await Promise.all([
      drafts.text.read(),
      drafts.attachments.read(),
      drafts.returned.read(),
    ]);
    this.#drafts = drafts;
    this.#conversation = conversation;
    this.#kept = this.#parse(keptSchema, attached);
    this.#returned = this.#parse(returnedSchema, returned);
    this.#keepText(text);
    this.#deps.frontend.setHead({ attachments: this.#kept.map(toView), returned: this.#returned.length > 0 });
    return text;
  }

  /**
   * Moves text and attachments to the conversation that the new chat has become with its first message. Undefined: the
   * conversation could not be stored, so they move back to a new chat.
   */
  async moveTo(conversation: string | undefined): Promise<void> {
    const before = this.#drafts;
    const [text, kept] = [this.#text, this.#kept];
    this.#drafts = this.#deps.draftsOf(conversation);
    this.#conversation = conversation;
    this.#returned = [];
    this.#deps.frontend.keepDraft(text);
    await Promise.all([this.#drafts.text.write(text), this.#set(kept), this.#setReturned([])]);
    await forget(before);
  }

  async attach(message: Extract<FromPage, { type: 'attach' }>): Promise<Result<void>> {
    const { t, client } = this.#deps;
    const { preview, media_type: mediaType, data } = message;
    const name = message.name === '' ? 'image' : message.name;
    if (data === '') return failed('image_size', t('{0} is empty.', name));
    if (data.length * 0.75 > LARGEST_IMAGE) return failed('image_size', t('{0} is larger than 10 MB.', name));
    if (this.#kept.length >= MOST_ATTACHMENTS) return this.#tooMany();
    const stored = await client.call('attach', { media_type: mediaType, data });
    if (!stored.ok) return stored;
    return this.#add({
      id: stored.value.hash,
      kind: 'image',
      name,
      mediaType,
      ...defined({ preview }),
    });
  }

  #tooMany(): Result<never> {
    return failed('too_many', this.#deps.t('A message can have at most {0} attachments.', MOST_ATTACHMENTS));
  }

  async detach(id: string): Promise<void> {
    await this.#set(this.#kept.filter((one) => one.id !== id));
  }

  async attachFile(path: string): Promise<Result<void>> {
    return this.#add({ id: path, kind: 'file', name: path });
  }

  /** Attaches text with a display name; it becomes part of the message. */
  async attachText(name: string, text: string): Promise<Result<void>> {
    return this.#add({ id: name, kind: 'text', name, text });
  }

  async attachResource(resource: AttachedResource): Promise<Result<void>> {
    return this.#add(keepResource(resource));
  }

  async #add(one: StoredAttachment): Promise<Result<void>> {
    const others = this.#kept.filter(({ id }) => id !== one.id);
    if (others.length >= MOST_ATTACHMENTS) return this.#tooMany();
    await this.#set([...others, one]);
    return succeeded(undefined);
  }

  /** Hands the attachments to the message that is sent now; `returnAttachments` undoes this if it is refused. */
  take(): {
    readonly attachments: readonly SentAttachment[];
    readonly text: string;
    returnAttachments(): Promise<void>;
  } {
    const taken = this.#kept;
    this.#setInBackground([]);
    return {
      attachments: taken.flatMap(toGiven),
      text: taken.flatMap(({ name, text }) => (text === undefined ? [] : [`${name}\n${text}`])).join('\n\n'),
      returnAttachments: () => this.#set([...taken, ...this.#kept]),
    };
  }

  #setInBackground(kept: readonly StoredAttachment[]): void {
    const report = (error: unknown) => this.#deps.logger.error('the attachments cannot be stored', error);
    void this.#set(kept).catch(report);
  }

  /** Whether all of these were returned before: the editor may have crashed before the log recorded it. */
  has(texts: readonly QueuedMessage[]): boolean {
    return texts.every(({ id }) => this.#returned.includes(id));
  }

  /**
   * Puts queued messages that no request delivered into the composer, which marks them until they are sent or cleared.
   */
  async returnMessages(texts: readonly QueuedMessage[]): Promise<void> {
    const missing = texts.filter((text) => !this.has([text]));
    await this.restoreMessages(missing);
    if (missing.length > 0) await this.#setReturned([...this.#returned, ...missing.map(({ id }) => id)]);
  }

  /** Stores the composer's text. `conversation` is the one that the page shows; the window may already show another. */
  async draftChanged(text: string, conversation: string | undefined): Promise<void> {
    this.#deps.didType?.();
    if (conversation !== this.#conversation) return this.#deps.draftsOf(conversation).text.write(text);
    this.#keepText(text);
    await this.#drafts.text.write(text);
    if (text === '' && this.#returned.length > 0) await this.#setReturned([]);
  }

  /** Puts messages in front of the draft. Resolves once they are on disk. */
  async restoreMessages(texts: readonly RestoredMessage[]): Promise<void> {
    const restored = texts.flatMap(({ content, typed = content }) => (typed === '' ? [] : [typed])).join('\n');
    const attached = texts.flatMap((text) => text.attachments ?? []).map(toKept);
    if (attached.length > 0) await this.#set([...attached, ...this.#kept]);
    if (restored !== '') await this.insert(restored);
  }

  /** Puts text in front of the draft. Resolves once it is on disk. */
  async insert(text: string): Promise<void> {
    this.#keepText(this.#text === '' ? text : `${text}\n${this.#text}`);
    this.#deps.frontend.restoreDraft(text);
    await this.#drafts.text.write(this.#text);
  }

  #keepText(text: string): void {
    this.#text = text;
    this.#deps.frontend.keepDraft(text);
  }

  #parse<T>(schema: z.ZodType<readonly T[]>, text: string): readonly T[] {
    if (text === '') return [];
    try {
      return schema.parse(JSON.parse(text));
    } catch {
      this.#deps.logger.warn('a part of the draft cannot be read and is ignored');
      return [];
    }
  }

  async #setReturned(ids: readonly string[]): Promise<void> {
    this.#returned = ids;
    this.#deps.frontend.setHead({ returned: ids.length > 0 });
    await this.#drafts.returned.write(ids.length === 0 ? '' : JSON.stringify(ids));
  }

  /** Removes duplicates. Resolves once the attachments are on disk. */
  async #set(all: readonly StoredAttachment[]): Promise<void> {
    const kept = all.filter((one, index) => all.findIndex(({ id }) => id === one.id) === index);
    this.#kept = kept;
    this.#deps.frontend.setHead({ attachments: kept.map(toView) });
    await this.#drafts.attachments.write(kept.length === 0 ? '' : JSON.stringify(kept));
  }
}

async function forget({ text, attachments, returned }: Drafts): Promise<void> {
  await Promise.all([text.write(''), attachments.write(''), returned.write('')]);
}

function toView({ id, kind, name, preview }: StoredAttachment): AttachmentView {
  return { id, kind, name, ...defined({ preview }) };
}

function toGiven({ id, kind, name, mediaType, resource }: StoredAttachment): SentAttachment[] {
  if (resource !== undefined) return [{ type: 'resource', ...resource }];
  if (kind === 'text') return [];
  if (kind === 'file') return [{ type: 'file', path: id }];
  return [{ type: 'image', media_type: mediaType ?? 'image/png', hash: id, name }];
}

function toKept(attachment: SentAttachment): StoredAttachment {
  const name = attachmentName(attachment);
  if (attachment.type === 'resource') return keepResource(attachment);
  if (attachment.type !== 'image') return { id: attachment.path, kind: 'file', name };
  return { id: attachment.hash, kind: 'image', name, mediaType: attachment.media_type };
}

function keepResource({ server, uri, content }: AttachedResource): StoredAttachment {
  return { id: resourceName(server, uri), kind: 'resource', name: uri, resource: { server, uri, content } };
}
