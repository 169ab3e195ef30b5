// The composer's attachments and returned messages, kept over reloads.
import * as z from 'zod';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type GivenAttachment } from '../../core/agent/userText.ts';
import { attachmentName } from '../../core/conversation/attachments.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type Logger, type QueuedMessage } from '../../core/ports/ports.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type Attachment } from '../../protocol/event.ts';
import { type AttachmentView, type FromPage } from '../../protocol/webview.ts';
import { type Drafts } from './drafts.ts';

const LARGEST_IMAGE = 10_000_000;
const MOST_ATTACHMENTS = 20;

const keptSchema = z.array(
  z.strictObject({
    id: z.string(),
    kind: z.enum(['image', 'file']),
    name: z.string(),
    mediaType: z.string().optional(),
    preview: z.string().optional(),
  }),
);
type Kept = z.infer<typeof keptSchema>[number];
const returnedSchema = z.array(z.string());

export interface ComposingDeps {
  readonly drafts: Drafts;
  readonly snapshots: Snapshots;
  readonly frontend: Pick<ChatFrontend, 'setHead' | 'restoreDraft'>;
  readonly logger: Logger;
}

export class Composing {
  readonly #deps: ComposingDeps;
  #kept: readonly Kept[] = [];
  /** Ids of queued messages that were returned and neither sent nor cleared since. */
  #returned: readonly string[] = [];

  constructor(deps: ComposingDeps) {
    this.#deps = deps;
  }

  /** Restores what was attached before the window was closed. */
  async restore(): Promise<void> {
    await this.#restoreReturned();
    const text = await this.#deps.drafts.readAttachments();
    if (text === '') return;
    try {
      await this.#set(keptSchema.parse(JSON.parse(text)));
    } catch {
      this.#deps.logger.warn('the attachments of the draft cannot be read and are ignored');
    }
  }

  /** Restores the draft in a page that was just loaded. */
  async restoreText(): Promise<void> {
    const text = await this.#deps.drafts.read();
    if (text !== '') this.#deps.frontend.restoreDraft(text);
  }

  async attach(message: Extract<FromPage, { type: 'attach_image' }>): Promise<Result<void>> {
    const bytes = Buffer.from(message.data, 'base64');
    const name = message.name === '' ? 'image' : message.name;
    if (this.#kept.length >= MOST_ATTACHMENTS)
      return failed('too_many', `A message can have at most ${MOST_ATTACHMENTS} attachments.`);
    if (bytes.length === 0 || bytes.length > LARGEST_IMAGE) {
      return failed('image_size', `${name} is ${bytes.length === 0 ? 'empty' : 'larger than 10 MB'}.`);
    }
    const id = await this.#deps.snapshots.put(bytes);
    const { preview, media_type: mediaType } = message;
    await this.#set([
      ...this.#kept.filter((one) => one.id !== id),
      { id, kind: 'image', name, mediaType, ...(preview !== undefined && { preview }) },
    ]);
    return succeeded(undefined);
  }

  async detach(id: string): Promise<void> {
    await this.#set(this.#kept.filter((one) => one.id !== id));
  }

  /** Hands the attachments to the message that is sent now; `giveBack` returns them if it is refused. */
  take(): { readonly attachments: readonly GivenAttachment[]; giveBack(): Promise<void> } {
    const taken = this.#kept;
    this.#setInBackground([]);
    return {
      attachments: taken.map(toGiven),
      giveBack: () => this.#set([...taken, ...this.#kept]),
    };
  }

  #setInBackground(kept: readonly Kept[]): void {
    const report = (error: unknown) => this.#deps.logger.error('the attachments cannot be stored', error);
    void this.#set(kept).catch(report);
  }

  /** Whether these were returned before: the editor may have crashed before the log recorded it. */
  has(texts: readonly QueuedMessage[]): boolean {
    return texts.every(({ id }) => this.#returned.includes(id));
  }

  /** Takes queued messages that no request delivered. The composer marks them until they are sent or cleared. */
  async giveBack(texts: readonly QueuedMessage[]): Promise<void> {
    const missing = texts.filter((text) => !this.has([text]));
    await this.restoreMessages(missing);
    if (missing.length > 0) await this.#setReturned([...this.#returned, ...missing.map(({ id }) => id)]);
  }

  /** The text in the composer changed. */
  async draftChanged(text: string): Promise<void> {
    await this.#deps.drafts.write(text);
    if (text === '' && this.#returned.length > 0) await this.#setReturned([]);
  }

  /** Puts messages in front of the draft. Resolves once they are on disk. */
  async restoreMessages(texts: readonly QueuedMessage[]): Promise<void> {
    const { drafts, frontend } = this.#deps;
    const restored = texts.flatMap(({ content }) => (content === '' ? [] : [content])).join('\n');
    const attached = texts.flatMap((text) => text.attachments ?? []).map(toKept);
    if (attached.length > 0) await this.#set([...attached, ...this.#kept]);
    if (restored === '') return;
    const typed = await drafts.read();
    await drafts.write(typed === '' ? restored : `${restored}\n${typed}`);
    frontend.restoreDraft(restored);
  }

  async #restoreReturned(): Promise<void> {
    const text = await this.#deps.drafts.readReturned();
    try {
      if (text !== '') await this.#setReturned(returnedSchema.parse(JSON.parse(text)));
    } catch {
      this.#deps.logger.warn('the list of returned messages cannot be read');
    }
  }

  async #setReturned(ids: readonly string[]): Promise<void> {
    this.#returned = ids;
    this.#deps.frontend.setHead({ returned: ids.length > 0 });
    await this.#deps.drafts.writeReturned(ids.length === 0 ? '' : JSON.stringify(ids));
  }

  /** Removes duplicates. Resolves once the attachments are on disk. */
  async #set(all: readonly Kept[]): Promise<void> {
    const kept = all.filter((one, index) => all.findIndex(({ id }) => id === one.id) === index);
    this.#kept = kept;
    const attachments = kept.map(
      ({ mediaType: _type, preview, ...one }): AttachmentView => ({
        ...one,
        ...(preview !== undefined && { preview }),
      }),
    );
    this.#deps.frontend.setHead({ attachments });
    await this.#deps.drafts.writeAttachments(kept.length === 0 ? '' : JSON.stringify(kept));
  }
}

function toGiven({ id, kind, name, mediaType }: Kept): GivenAttachment {
  if (kind === 'file') return { type: 'file', path: id };
  return { type: 'image', media_type: mediaType ?? 'image/png', hash: id, name };
}

function toKept(attachment: Attachment): Kept {
  const name = attachmentName(attachment);
  if (attachment.type !== 'image') return { id: attachment.path, kind: 'file', name };
  return { id: attachment.hash, kind: 'image', name, mediaType: attachment.media_type };
}
