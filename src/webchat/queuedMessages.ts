// Withdraws and moves queued messages for a page. Not those with attachments, which a plugin cannot queue again.
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type FollowedConversation } from './followedConversation.ts';

type Client = Pick<PluginClient, 'request'>;
type Followed = Pick<FollowedConversation, 'id' | 'state'>;

/** Resolves to the text of the message. Rejects with the reason if it was delivered or has attachments. */
export async function withdrawQueued(client: Client, followed: Followed, id: string): Promise<string> {
  const { content, attachments = [] } = followed.state.pending.queuedMessages.find((one) => one.id === id) ?? {
    content: '',
  };
  if (attachments.length > 0) throw new Error('A queued message with attachments can only be changed in VS Code.');
  await client.request('withdraw_queued', { conversation: followed.id, queued_id: id });
  return content;
}

/**
 * Moves a queued message up by one: withdraws it, the one before it and all after it, and queues them in the new order.
 */
export async function raiseQueued(
  client: Client,
  followed: Followed,
  id: string,
  queue: (text: string) => Promise<void>,
): Promise<void> {
  const all = followed.state.pending.queuedMessages;
  const place = all.findIndex((one) => one.id === id);
  const [before, raised, ...after] = all.slice(Math.max(0, place - 1));
  if (place < 1 || before === undefined || raised === undefined) return;
  const moved = [raised, before, ...after];
  if (moved.some(({ attachments = [] }) => attachments.length > 0))
    throw new Error('Queued messages with attachments can only be moved in VS Code.');
  const texts: string[] = [];
  for (const one of moved) {
    // A message that was delivered meanwhile cannot be withdrawn and is not queued again.
    const text = await withdrawQueued(client, followed, one.id).catch(() => undefined);
    if (text !== undefined) texts.push(text);
  }
  for (const text of texts) await queue(text);
}
