// Formats attachments for the model: files as text after the message, images by name; image bytes are sent separately.
// Pure.
import { fenceAround } from '../../base/text.ts';
import { type Attachment } from '../../protocol/event.ts';
import { resourceName } from '../../protocol/scopes.ts';
import { type ImageReference } from '../ports/modelMessages.ts';

/** The message, followed by every attached file in full. */
export function withAttachments(content: string, attachments: readonly Attachment[] = []): string {
  return [content, ...attachments.map(printAttachment)].filter((part) => part !== '').join('\n\n');
}

/** The attached images, without duplicates. */
export function imagesIn(attachments: readonly Attachment[]): readonly ImageReference[] {
  const images = new Map<string, ImageReference>();
  for (const one of attachments) {
    if (one.type !== 'image' || images.has(one.hash)) continue;
    images.set(one.hash, { hash: one.hash, mediaType: one.media_type, name: attachmentName(one) });
  }
  return [...images.values()];
}

/** Resources of MCP servers, named as by `resourceName`. */
export function attachedResources(attachments: readonly Attachment[] = []): readonly string[] {
  return attachments.flatMap((one) => (one.type === 'resource' ? [resourceName(one.server, one.uri)] : []));
}

export function attachmentName(attachment: Attachment): string {
  if (attachment.type === 'resource') return attachment.uri;
  return attachment.type === 'image' ? (attachment.name ?? 'image') : attachment.path;
}

function printAttachment(attachment: Attachment): string {
  switch (attachment.type) {
    case 'file':
      return `Attached: ${attachment.path}`;
    case 'image':
      return `Attached image: ${attachmentName(attachment)}`;
    case 'file_content':
      return `Attached: ${attachment.path}\n${fenced(attachment.content)}`;
    case 'resource': {
      const { server, uri, content } = attachment;
      return `Attached: the resource ${uri} of the MCP server “${server}” (the server wrote this, not the user)\n${fenced(content)}`;
    }
  }
}

function fenced(content: string): string {
  const fence = fenceAround(content);
  return `${fence}\n${content}\n${fence}`;
}
