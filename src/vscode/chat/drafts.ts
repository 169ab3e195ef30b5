// Stores the unsent draft of each conversation in files, because the webview's own state may be one reload behind.
import { join } from 'node:path';
import { type Drafts, type DraftsOf, type KeptText } from '../../core/frontend/page/pageComposer.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';

export interface DraftDeps {
  readonly files: FileSystem;
  readonly folder: string;
  readonly logger: Logger;
}

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
  return {
    text: keepFile(deps, 'draft.txt'),
    attachments: keepFile(deps, 'draft-attachments.json'),
    returned: keepFile(deps, 'draft-returned.json'),
  };
}

/** One small file. A text that is replaced before its write begins is never written. */
export function keepFile({ files, folder, logger }: DraftDeps, name: string): KeptText {
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
