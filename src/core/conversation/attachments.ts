// Formats attachments for the model: files as text after the message, images by name, with their bytes sent separately. Pure.
import { fenceAround } from '../../base/text.ts';
import { type Attachment } from '../../protocol/event.ts';
import { type ImageReference } from '../ports/modelMessages.ts';

/** The message, followed by every attached file in full. */
export function withAttachments(content: string, attachments: readonly Attachment[] = []): string {
  return [content, ...attachments.map(printAttachment)].filter((part) => part !== '').join('\n\n');
}

/** Without duplicates. */
export function imagesIn(attachments: readonly Attachment[]): readonly ImageReference[] {
  const images = new Map<string, ImageReference>();
  for (const one of attachments) {
    if (one.type !== 'image' || images.has(one.hash)) continue;
    images.set(one.hash, { hash: one.hash, mediaType: one.media_type, name: attachmentName(one) });
  }
  return [...images.values()];
}

export function attachmentName(attachment: Attachment): string {
  return attachment.type === 'image' ? (attachment.name ?? 'image') : attachment.path;
}

function printAttachment(attachment: Attachment): string {
  switch (attachment.type) {
    case 'file':
      return `Attached: ${attachment.path}`;
    case 'image':
      return `Attached image: ${attachmentName(attachment)}`;
    case 'file_content': {
      const fence = fenceAround(attachment.content);
      return `Attached: ${attachment.path}\n${fence}\n${attachment.content}\n${fence}`;
    }
  }
}
