// The composer's text, attachments and returned messages for each conversation, kept over reloads.
import * as z from 'zod';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { attachmentName } from '../../core/conversation/attachments.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Logger, type QueuedMessage } from '../../core/ports/ports.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Attachment } from '../../protocol/event.ts';
import { resourceName } from '../../protocol/scopes.ts';
import { type AttachmentView, type FromPage } from '../../protocol/webview.ts';
import { type Drafts, type DraftsOf } from './drafts.ts';

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
type Kept = z.infer<typeof keptSchema>[number];
export type AttachedResource = NonNullable<Kept['resource']>;
const returnedSchema = z.array(z.string());

export interface ComposingDeps {
  /** Translates. */
  t(text: string, ...values: (string | number)[]): string;
  readonly draftsOf: DraftsOf;
  readonly snapshots: Snapshots;
  readonly frontend: Pick<ChatFrontend, 'setHead' | 'restoreDraft' | 'keepDraft'>;
  readonly logger: Logger;
}

export class Composing {
  readonly #deps: ComposingDeps;
  #conversation: string | undefined;
  #drafts: Drafts;
  #text = '';
  #kept: readonly Kept[] = [];
  /** Ids of queued messages that were returned and neither sent nor cleared since. */
  #returned: readonly string[] = [];

  constructor(deps: ComposingDeps) {
    this.#deps = deps;
    this.#drafts = deps.draftsOf(undefined);
  }

  /** Restores text, attachments and returned messages of this conversation, or of a new chat. Resolves to the text. */
  async show(conversation: string | undefined): Promise<string> {
    const drafts = this.#deps.draftsOf(conversation);
    const [text, attached, returned] = await Promise.all([
      drafts.read(),
      drafts.readAttachments(),
      drafts.readReturned(),
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
    await Promise.all([this.#drafts.write(text), this.#set(kept), this.#setReturned([])]);
    await Promise.all([before.write(''), before.writeAttachments(''), before.writeReturned('')]);
  }

  async attach(message: Extract<FromPage, { type: 'attach_image' }>): Promise<Result<void>> {
    const bytes = Buffer.from(message.data, 'base64');
    const name = message.name === '' ? 'image' : message.name;
    if (this.#kept.length >= MOST_ATTACHMENTS) return this.#tooMany();
    if (bytes.length === 0 || bytes.length > LARGEST_IMAGE) {
      const { t } = this.#deps;
      return failed('image_size', bytes.length === 0 ? t('{0} is empty.', name) : t('{0} is larger than 10 MB.', name));
    }
    const id = await this.#deps.snapshots.put(bytes);
    const { preview, media_type: mediaType } = message;
    await this.#set([
      ...this.#kept.filter((one) => one.id !== id),
      { id, kind: 'image', name, mediaType, ...(preview !== undefined && { preview }) },
    ]);
    return succeeded(undefined);
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

  async #add(one: Kept): Promise<Result<void>> {
    if (this.#kept.length >= MOST_ATTACHMENTS) return this.#tooMany();
    await this.#set([...this.#kept.filter(({ id }) => id !== one.id), one]);
    return succeeded(undefined);
  }

  /** Hands the attachments to the message that is sent now; `returnAttachments` undoes this if it is refused. */
  take(): {
    readonly attachments: readonly GivenAttachment[];
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

  #setInBackground(kept: readonly Kept[]): void {
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
    if (conversation !== this.#conversation) return this.#deps.draftsOf(conversation).write(text);
    this.#keepText(text);
    await this.#drafts.write(text);
    if (text === '' && this.#returned.length > 0) await this.#setReturned([]);
  }

  /** Puts messages in front of the draft. Resolves once they are on disk. */
  async restoreMessages(texts: readonly QueuedMessage[]): Promise<void> {
    const restored = texts.flatMap(({ content, typed = content }) => (typed === '' ? [] : [typed])).join('\n');
    const attached = texts.flatMap((text) => text.attachments ?? []).map(toKept);
    if (attached.length > 0) await this.#set([...attached, ...this.#kept]);
    if (restored !== '') await this.insert(restored);
  }

  /** Puts text in front of the draft. Resolves once it is on disk. */
  async insert(text: string): Promise<void> {
    this.#keepText(this.#text === '' ? text : `${text}\n${this.#text}`);
    this.#deps.frontend.restoreDraft(text);
    await this.#drafts.write(this.#text);
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
    await this.#drafts.writeReturned(ids.length === 0 ? '' : JSON.stringify(ids));
  }

  /** Removes duplicates. Resolves once the attachments are on disk. */
  async #set(all: readonly Kept[]): Promise<void> {
    const kept = all.filter((one, index) => all.findIndex(({ id }) => id === one.id) === index);
    this.#kept = kept;
    this.#deps.frontend.setHead({ attachments: kept.map(toView) });
    await this.#drafts.writeAttachments(kept.length === 0 ? '' : JSON.stringify(kept));
  }
}

function toView({ id, kind, name, preview }: Kept): AttachmentView {
  return { id, kind, name, ...(preview !== undefined && { preview }) };
}

function toGiven({ id, kind, name, mediaType, resource }: Kept): GivenAttachment[] {
  if (resource !== undefined) return [{ type: 'resource', ...resource }];
  if (kind === 'text') return [];
  if (kind === 'file') return [{ type: 'file', path: id }];
  return [{ type: 'image', media_type: mediaType ?? 'image/png', hash: id, name }];
}

function toKept(attachment: Attachment): Kept {
  const name = attachmentName(attachment);
  if (attachment.type === 'resource') return keepResource(attachment);
  if (attachment.type !== 'image') return { id: attachment.path, kind: 'file', name };
  return { id: attachment.hash, kind: 'image', name, mediaType: attachment.media_type };
}

function keepResource({ server, uri, content }: AttachedResource): Kept {
  return { id: resourceName(server, uri), kind: 'resource', name: uri, resource: { server, uri, content } };
}
