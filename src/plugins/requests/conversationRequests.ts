// Requests about whole conversations: rename, fork, delete, background commands and media.
import { type HandleView } from '../../protocol/page/handlesView.ts';
import { imagesIn } from '../../core/conversation/attachments.ts';
import { viewHandles } from '../../core/frontend/handleViews.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, doneIf, refuse, reply } from './answer.ts';
import { workingElsewhere } from './ownership.ts';

export async function renameConversation(
  ports: PluginPorts,
  { conversation, title }: RequestOf<'rename_conversation'>,
): Promise<Answer> {
  if (ports.earshot.get(conversation)?.owned === false) return workingElsewhere();
  const known = await whyUnknown(ports, conversation);
  return known ?? doneIf(await ports.library.rename(conversation, title));
}

export async function forkConversation(
  ports: PluginPorts,
  { conversation }: RequestOf<'fork_conversation'>,
): Promise<Answer> {
  const forked = await ports.library.fork(conversation);
  return forked.ok ? reply({ type: 'forked', conversation: forked.value }) : forked;
}

/** Stops what runs in the conversation first. A conversation that another window owns is not deleted. */
export async function deleteConversation(
  ports: PluginPorts,
  { conversation }: RequestOf<'delete_conversation'>,
): Promise<Answer> {
  const known = await whyUnknown(ports, conversation);
  return known ?? doneIf(await ports.library.remove(conversation));
}

export async function listCommands(
  { handles }: PluginPorts,
  { conversation }: RequestOf<'list_commands'>,
): Promise<Answer> {
  const views = await viewHandles(handles.list(conversation));
  return reply({ type: 'commands', data: views.map(toCommand) });
}

/** Leaves out the subagent's data: plugins see a subagent as a separate conversation. */
function toCommand({ call, agent: _agent, ...rest }: HandleView) {
  return { tool_call_id: call, ...rest };
}

/** Returns only media that a result or a message of this conversation names: plugins must not read other snapshots by hash. */
export async function readMedia(
  { store, snapshots }: PluginPorts,
  { conversation, hash }: RequestOf<'read_media'>,
): Promise<Answer> {
  const read = await store.scan(conversation, 0);
  if (!read.ok) return read;
  let isNamed = false;
  for (const event of read.value.events) {
    if (event.type === 'tool_call_response') isNamed ||= event.media?.some((one) => one.hash === hash) === true;
    else if ('attachments' in event) isNamed ||= imagesIn(event.attachments ?? []).some((one) => one.hash === hash);
  }
  if (!isNamed) return refuse('hash: nothing in this conversation names it.');
  const bytes = await snapshots.get(hash);
  return reply({ type: 'media', hash, ...(bytes && { data: Buffer.from(bytes).toString('base64') }) });
}

async function whyUnknown({ store }: PluginPorts, conversation: string): Promise<Answer | undefined> {
  const end = await store.end(conversation);
  return end.ok ? undefined : end;
}
