// Stores the unsent draft of each conversation in files, because the webview's own state may be one reload behind.
import { join } from 'node:path';
import { type Logger } from '../../core/ports/ports.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';

export interface Drafts {
  read(): Promise<string>;
  /** Resolves once it is stored; the newest text wins. */
  write(text: string): Promise<void>;
  /** The attachments, in the caller's own format. */
  readAttachments(): Promise<string>;
  writeAttachments(text: string): Promise<void>;
  /** The ids of queued messages that were returned to the draft. */
  readReturned(): Promise<string>;
  writeReturned(text: string): Promise<void>;
}

export interface DraftDeps {
  readonly files: FileSystem;
  readonly folder: string;
  readonly logger: Logger;
}

/** The drafts of a conversation, or of a new chat. Always the same object for the same conversation. */
export type DraftsOf = (conversation: string | undefined) => Drafts;

export function createDraftsOf(deps: DraftDeps): DraftsOf {
  const opened = new Map<string | undefined, Drafts>();
  return (conversation) => {
    const folder = conversation === undefined ? deps.folder : join(deps.folder, 'drafts', conversation);
    const drafts = opened.get(conversation) ?? createDrafts({ ...deps, folder });
    opened.set(conversation, drafts);
    return drafts;
  };
}

function createDrafts(deps: DraftDeps): Drafts {
  const text = keepFile(deps, 'draft.txt');
  const attachments = keepFile(deps, 'draft-attachments.json');
  const returned = keepFile(deps, 'draft-returned.json');
  return {
    read: text.read,
    write: text.write,
    readAttachments: attachments.read,
    writeAttachments: attachments.write,
    readReturned: returned.read,
    writeReturned: returned.write,
  };
}

/** One small file. A text that is replaced before its write begins is never written. */
export function keepFile({ files, folder, logger }: DraftDeps, name: string): Pick<Drafts, 'read' | 'write'> {
  const path = join(folder, name);
  let newest: string | undefined;
  let writing: Promise<void> | undefined;
  const writeNewest = async () => {
    while (newest !== undefined) {
      const text = newest;
      newest = undefined;
      try {
        await files.makeFolder(folder);
        await files.writeWhole(path, Buffer.from(text));
      } catch (error) {
        logger.error('the draft cannot be stored', error);
      }
    }
    writing = undefined;
  };
  return {
    read: async () => {
      try {
        await writing;
        return Buffer.from((await files.read(path)) ?? []).toString('utf8');
      } catch (error) {
        logger.error('the draft cannot be read', error);
        return '';
      }
    },
    write: (text) => {
      newest = text;
      writing ??= writeNewest();
      return writing;
    },
  };
}
