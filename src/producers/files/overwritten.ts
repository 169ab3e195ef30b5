// Reports that a conversation's own command overwrote somebody else's changes: what was lost, and what replaced it.
import { fileOverwritten } from '../../core/notify/wording/fileChange.ts';
import { type Publisher, type SeenFiles } from '../../core/ports/ports.ts';
import { type ConversationOverwrite, type LiveConversations, type Sample } from '../../core/ports/producers.ts';
import { type FileProducerDeps } from './currentFile.ts';

export interface OverwrittenDeps extends FileProducerDeps {
  readonly live: LiveConversations;
  readonly seen: SeenFiles;
  readonly publisher: Publisher;
}

/** Replaces other pending notifications of the same file, which would show both changes as one diff. */
export async function sampleOverwritten(deps: OverwrittenDeps, conversation: string): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const overwrite of deps.live.takeOverwritten(conversation)) {
    const sample = await sampleOf(deps, conversation, overwrite);
    if (sample !== undefined) samples.push(sample);
  }
  return samples;
}

async function sampleOf(
  { seen, snapshots, workspace, publisher }: OverwrittenDeps,
  conversation: string,
  { path, lost, now, command }: ConversationOverwrite,
): Promise<Sample | undefined> {
  const view = seen.get(path)?.by.find((one) => one.conversation === conversation);
  const file = await workspace.resolve(path);
  if (view === undefined || !file.ok) return undefined;
  const content = await workspace.read(file.value);
  const present = content.ok && !content.value.unsaved ? content.value.bytes : undefined;
  // If the file was written again since, that change is reported by its own notification.
  if ((present && snapshots.hash(present)) !== now || (content.ok && content.value.unsaved)) return undefined;
  const [before, gone] = [await snapshots.get(view.hash), await snapshots.get(lost)];
  const draft = fileOverwritten(path, { before, lost: gone, now: present, hash: now }, command);
  const { kind, subject = '', level, message, origin, data } = draft;
  for (const name of ['changed', 'deleted']) {
    await publisher.withdraw({ source: 'file', name }, subject, 'its own command overwrote it', conversation);
  }
  return { kind, subject, draft: { level, message, origin, ...(data && { data }) } };
}
