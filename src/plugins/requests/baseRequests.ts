// The base requests: conversations, their events, and the configuration.
import { TurnState } from '../../core/conversation/projections/turnState.ts';
import { Summary } from '../../core/conversation/projections/summary.ts';
import { maskKey } from '../../core/conversation/key.ts';
import { type RequestOf } from '../../protocol/plugin.ts';
import { type PluginPorts } from '../pluginPorts.ts';
import { type Answer, refuse, reply } from './answer.ts';

export async function listConversations({ store, earshot }: PluginPorts): Promise<Answer> {
  const listed = await store.list();
  if (!listed.ok) return listed;
  const data = await Promise.all(
    listed.value.map(async ({ id, title, lastActivity, subagent, choice }) => {
      const end = await store.end(id);
      const { lastSeq = 0, key = '' } = end.ok ? end.value : {};
      const shown = maskKey(earshot.get(id)?.log.state.summary.title ?? title, key);
      return {
        id,
        title: shown === '' ? null : shown,
        last_activated_at: new Date(lastActivity).toISOString(),
        events_count: lastSeq,
        ...(subagent && { subagent: { parent: subagent.parent, name: maskKey(subagent.name, key) } }),
        ...(choice && { choice }),
      };
    }),
  );
  return reply({ type: 'conversations', data });
}

/** The new conversation is on disk. It is closed after the reply unless it is used. */
export async function createConversation(
  { earshot, library, keepAlive }: PluginPorts,
  { title }: RequestOf<'create'>,
): Promise<Answer> {
  const created = await earshot.create();
  if (!created.ok) return created;
  const { id } = created.value.log;
  const hold = keepAlive.hold(id, true);
  const named = title === undefined ? undefined : await library.rename(id, title);
  const then = () => hold.dispose();
  if (named?.ok !== false) return reply({ type: 'created', conversation: id }, { then });
  then();
  return named;
}

export async function readConversation(
  ports: PluginPorts,
  { conversation }: RequestOf<'read_events'>,
): Promise<Answer> {
  const read = await ports.store.scan(conversation, 0);
  if (!read.ok) return read;
  const data: Record<string, unknown>[] = [];
  const [turn, summary] = [new TurnState(), new Summary()];
  for (const event of read.value.events) {
    turn.fold(event);
    summary.fold(event);
    const { v: _, ...rest } = event;
    data.push(rest);
  }
  if (data.length === 0) return refuse('There is no such conversation.');
  const lock = await lockOf(ports, conversation, turn.isOpen);
  const title = summary.title === '' ? null : summary.title;
  return reply({ type: 'events', conversation, lock, title, data }, { key: turn.key });
}

/** Where a turn runs, if any does. A turn that a crashed window left open is not running. */
async function lockOf(
  { earshot, lock, isAlive }: PluginPorts,
  conversation: string,
  isOpen: boolean,
): Promise<'free' | 'elsewhere' | 'here'> {
  const live = earshot.get(conversation);
  if (live?.running === true) return 'here';
  if (!isOpen || live?.owned === true) return 'free';
  const owner = await lock.owner(conversation);
  return owner !== undefined && isAlive(owner.pid) ? 'elsewhere' : 'free';
}

/** `path` is the name of a setting, or the common prefix of several, such as `notifications`. */
export function readConfig(config: Readonly<Record<string, unknown>>, { path }: RequestOf<'read_config'>): Answer {
  if (path === undefined) return reply({ type: 'config', data: config });
  if (Object.hasOwn(config, path)) return reply({ type: 'config', path, data: config[path] });
  const below = Object.entries(config).filter(([name]) => name.startsWith(`${path}.`));
  if (below.length === 0) return refuse(`path: there is no setting “${path.slice(0, 100)}”.`);
  return reply({
    type: 'config',
    path,
    data: Object.fromEntries(below.map(([name, value]) => [name.slice(path.length + 1), value])),
  });
}
