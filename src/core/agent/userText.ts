// Accepts the user's message: expands prompts, reads attached files, stores images by their hash.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { decodeText } from '../../base/text.ts';
import { type Attachment } from '../../protocol/event.ts';
import { type Ports } from '../ports/ports.ts';
import { expandPrompt } from '../prompt/promptFiles.ts';

/** An attachment as a front end has it. A file given by path is read when the message is accepted. */
export type GivenAttachment =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'file_content'; readonly path: string; readonly content: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly bytes: Uint8Array; readonly name?: string }
  /** An image that was accepted before and returned to the composer. */
  | Extract<Attachment, { type: 'image' }>
  /** A resource with the content it had when it was attached. */
  | Extract<Attachment, { type: 'resource' }>;

export interface MessageOptions {
  readonly attachments?: readonly GivenAttachment[];
}

export interface RequestOptions extends MessageOptions {
  /** JSON Schema of the wanted answer. */
  readonly schema?: Readonly<Record<string, unknown>>;
}

export interface AcceptedText {
  readonly content: string;
  /** What the user typed, if that named a prompt file or a skill. */
  readonly typed?: string;
  readonly attachments?: readonly Attachment[];
}

const LONGEST_FILE = 1_000_000;
const LARGEST_IMAGE = 10_000_000;
/** The types that endpoints accept. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

type AcceptingPorts = Pick<Ports, 'workspace' | 'userFiles' | 'snapshots'>;

const encoder = new TextEncoder();

/**
 * Accepts the whole message or nothing: a failure names the part that cannot be accepted. Bytes are on disk before an
 * event names them.
 */
export async function acceptText(
  ports: AcceptingPorts,
  typed: string,
  given: readonly GivenAttachment[] = [],
): Promise<Result<AcceptedText>> {
  const attachments: Attachment[] = [];
  for (const [index, one] of given.entries()) {
    const accepted = await acceptAttachment(ports, one);
    if (!accepted.ok) {
      const message = `attachments.${index}: ${accepted.failure.message}`;
      return failed(accepted.failure.code, message, 'Remove it and send again.');
    }
    attachments.push(accepted.value);
  }
  if (typed.trim() === '' && attachments.length === 0) {
    return failed('empty', 'content: there is nothing in it.', 'Write something.');
  }
  const expanded = await expandPrompt(typed, ports.workspace, ports.userFiles);
  if (!expanded.ok) {
    const { code, message } = expanded.failure;
    return failed(code, `content: this prompt cannot be used: ${message}`, 'Write the request without it.');
  }
  const content = expanded.value;
  return succeeded({ content, ...(content !== typed && { typed }), ...(attachments.length > 0 && { attachments }) });
}

async function acceptAttachment(ports: AcceptingPorts, given: GivenAttachment): Promise<Result<Attachment>> {
  switch (given.type) {
    case 'image':
      return 'bytes' in given ? acceptImage(ports, given) : succeeded(given);
    case 'resource':
      return given.content.length > LONGEST_FILE
        ? failed('too_large', `${given.uri} is too long to be attached as a whole.`)
        : succeeded(given);
    case 'file_content':
      return acceptFile(ports, given.path, given.content);
    case 'file': {
      const file = await ports.workspace.resolve(given.path);
      if (!file.ok) return file;
      const read = await ports.workspace.read(file.value, { atMost: 4 * LONGEST_FILE });
      if (!read.ok) return read;
      const content = decodeText(read.value.bytes);
      if (content === undefined) return failed('not_text', `${given.path} is not a text file.`);
      return acceptFile(ports, file.value.path, content);
    }
  }
}

async function acceptFile(ports: AcceptingPorts, path: string, content: string): Promise<Result<Attachment>> {
  if (content.length > LONGEST_FILE) return failed('too_large', `${path} is too long to be attached as a whole.`);
  await ports.snapshots.put(encoder.encode(content));
  return succeeded({ type: 'file_content', path, content });
}

async function acceptImage(
  ports: AcceptingPorts,
  { mediaType, bytes, name }: Extract<GivenAttachment, { bytes: Uint8Array }>,
): Promise<Result<Attachment>> {
  const called = name ?? 'the image';
  if (!IMAGE_TYPES.has(mediaType)) {
    return failed(
      'image_type',
      `${called} is ${mediaType || 'of no known type'}; models take PNG, JPEG, GIF and WebP.`,
    );
  }
  if (bytes.length === 0) return failed('empty', `${called} is empty.`);
  if (bytes.length > LARGEST_IMAGE) return failed('too_large', `${called} is larger than 10 MB.`);
  const hash = await ports.snapshots.put(bytes);
  return succeeded({ type: 'image', media_type: mediaType, hash, ...defined({ name }) });
}
