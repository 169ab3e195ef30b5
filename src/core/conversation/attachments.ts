// Decides how what the user attached is told: files as text behind the words, images named there and sent beside. Pure.

import { fenceAround } from '../../base/text.ts';
import { type Attachment } from '../../protocol/event.ts';
import { type ImageReference } from '../ports/modelMessages.ts';

/** The words, and behind them every file in full. */
export function withAttachments(content: string, attachments: readonly Attachment[] = []): string {
  return [content, ...attachments.map(print)].filter((part) => part !== '').join('\n\n');
}

/** Each once. */
export function imagesIn(attachments: readonly Attachment[]): readonly ImageReference[] {
  const images = new Map<string, ImageReference>();
  for (const one of attachments) {
    if (one.type !== 'image' || images.has(one.hash)) continue;
    images.set(one.hash, { hash: one.hash, mediaType: one.media_type, name: nameOf(one) });
  }
  return [...images.values()];
}

export function nameOf(attachment: Attachment): string {
  return attachment.type === 'image' ? (attachment.name ?? 'image') : attachment.path;
}

function print(attachment: Attachment): string {
  switch (attachment.type) {
    case 'file':
      return `Attached: ${attachment.path}`;
    case 'image':
      return `Attached image: ${nameOf(attachment)}`;
    case 'file_content': {
      const fence = fenceAround(attachment.content);
      return `Attached: ${attachment.path}\n${fence}\n${attachment.content}\n${fence}`;
    }
  }
}
