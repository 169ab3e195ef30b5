// Reads a client's prompt: its text and its attachments.
import { relative, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Result, succeeded } from '../base/errors.ts';
import { type Client } from '../core/client/client.ts';
import { type SentAttachment, type VerbParams } from '../protocol/client/verbs.ts';
import { type PromptPart } from '../protocol/outside/acp.ts';

/** Attaches linked files of the folder. Other links and unknown parts are named in the text. Stores images. */
export async function readPromptParts(
  parts: readonly PromptPart[],
  { folder, client }: { readonly folder: string; readonly client: Pick<Client, 'call'> },
): Promise<Result<Pick<VerbParams<'send'>, 'content' | 'attachments'>>> {
  const texts: string[] = [];
  const attachments: SentAttachment[] = [];
  for (const part of parts) {
    if ('text' in part) texts.push(part.text);
    else if ('data' in part) {
      const stored = await client.call('attach', { media_type: part.mimeType, data: part.data });
      if (!stored.ok) return stored;
      attachments.push({ type: 'image', media_type: part.mimeType, ...stored.value });
    } else if ('resource' in part) {
      const { uri, text } = part.resource;
      const path = pathIn(folder, uri) ?? uri;
      if (text === undefined) texts.push(`(attached, not readable: ${path})`);
      else attachments.push({ type: 'file_content', path, content: text });
    } else if ('uri' in part) {
      const path = pathIn(folder, part.uri);
      if (path === undefined) texts.push(`[${part.name}](${part.uri})`);
      else attachments.push({ type: 'file', path });
    } else texts.push(`(a part of the type ${part.type} was left out)`);
  }
  return succeeded({ content: texts.join('\n'), attachments });
}

/** Undefined: the address is not that of a file in the folder. */
function pathIn(folder: string, uri: string): string | undefined {
  if (!URL.canParse(uri) || new URL(uri).protocol !== 'file:') return undefined;
  try {
    const path = relative(folder, fileURLToPath(uri));
    return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path.replaceAll('\\', '/');
  } catch {
    return undefined;
  }
}
