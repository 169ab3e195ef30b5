// The local verbs about whole conversations and what is stored with them: list, read, rename, fork, delete, export, media.
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { defined } from '../../../base/json/defined.ts';
import { type VerbResult } from '../../../protocol/client/verbs.ts';
import { type TranscriptItem } from '../../../protocol/transcript.ts';
import { listedChoice } from '../../conversation/choices.ts';
import { maskKey } from '../../conversation/key.ts';
import { Projections } from '../../conversation/projections/project.ts';
import { Summary } from '../../conversation/projections/summary.ts';
import { TurnState } from '../../conversation/projections/turnState.ts';
import { readDiffs } from '../../files/readDiffs.ts';
import { type ConversationSummary } from '../../ports/storage.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { workingElsewhere } from './owning.ts';

type ConversationVerb =
  | ('list_conversations' | 'create' | 'read_events' | 'rename' | 'fork' | 'delete' | 'export')
  | ('attach' | 'read_media' | 'read_diff');

/** The types that endpoints accept; `core/agent/userText.ts` checks the same ones. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const LARGEST_IMAGE = 10_000_000;

export function createConversationVerbs(ports: LocalPorts): Pick<LocalVerbs, ConversationVerb> {
  const { earshot, library, store, snapshots, base64 } = ports;
  return {
    list_conversations: async () => {
      const listed = await store.list();
      if (!listed.ok) return listed;
      return succeeded({ data: await Promise.all(listed.value.map((one) => viewConversation(ports, one))) });
    },
    create: async ({ title }) => {
      const created = await earshot.create();
      if (!created.ok) return created;
      const conversation = created.value.log.id;
      // It is closed soon unless it is used.
      const hold = ports.keepAlive.hold(conversation, true);
      const named = title === undefined ? undefined : await library.rename(conversation, title);
      hold.dispose();
      return named?.ok === false ? named : succeeded({ conversation });
    },
    read_events: ({ conversation }) => readConversation(ports, conversation),
    rename: async ({ conversation, title }) => {
      if (earshot.get(conversation)?.owned === false) return workingElsewhere();
      const end = await store.end(conversation);
      const renamed = end.ok ? await library.rename(conversation, title) : end;
      return renamed.ok ? succeeded({}) : renamed;
    },
    fork: async ({ conversation, before }) => {
      if (before === undefined) {
        const forked = await library.fork(conversation);
        return forked.ok ? succeeded({ conversation: forked.value }) : forked;
      }
      const forked = await library.forkBefore(conversation, before);
      if (!forked.ok) return forked;
      const { content, typed = content, attachments } = forked.value.request;
      return succeeded({
        conversation: forked.value.conversation,
        content: typed,
        ...defined({ attachments }),
      });
    },
    delete: async ({ conversation }) => {
      const end = await store.end(conversation);
      const removed = end.ok ? await library.remove(conversation) : end;
      return removed.ok ? succeeded({}) : removed;
    },
    export: async ({ conversation, format }) => {
      const exported = await library.export(conversation, format);
      return exported.ok ? succeeded({ text: exported.value }) : exported;
    },
    attach: async ({ media_type: type, data }) => {
      if (!IMAGE_TYPES.has(type)) return failed('plugin', 'media_type: models take PNG, JPEG, GIF and WebP.');
      const bytes = base64.decode(data);
      if (bytes.length === 0) return failed('plugin', 'data: there is nothing in it.');
      if (bytes.length > LARGEST_IMAGE) return failed('plugin', 'data: the image is larger than 10 MB.');
      return succeeded({ hash: await snapshots.put(bytes) });
    },
    // Only media that a result or a message of this conversation names: other snapshots must not be read by hash.
    read_media: async ({ conversation, hash }) => {
      const items = await itemsOf(ports, conversation);
      if (!items.ok) return items;
      const hashes = items.value.flatMap((item) => [
        ...(item.type === 'tool' ? (item.media ?? []) : []).map((one) => one.hash),
        ...(item.type === 'request' ? (item.images ?? []) : []).map((one) => one.hash),
      ]);
      if (!hashes.includes(hash)) return failed('plugin', 'hash: nothing in this conversation names it.');
      const bytes = await snapshots.get(hash);
      return succeeded({ hash, ...(bytes && { data: base64.encode(bytes) }) });
    },
    read_diff: async ({ conversation, tool_call_id: call }) => {
      const items = await itemsOf(ports, conversation);
      if (!items.ok) return items;
      const item = items.value.find(({ id }) => id === call);
      const changes = item?.type === 'tool' ? (item.changes ?? []) : [];
      return succeeded({ data: await readDiffs(snapshots, changes) });
    },
  };
}

type Listed = VerbResult<'list_conversations'>['data'][number];

async function viewConversation(
  { earshot, store, handles, settings }: LocalPorts,
  { id, title, lastActivity, subagent, choice, forkedFrom, unreviewed = 0, problem }: ConversationSummary,
): Promise<Listed> {
  const end = await store.end(id);
  const { lastSeq = 0, key = '' } = end.ok ? end.value : {};
  const shown = maskKey(earshot.get(id)?.log.state.summary.title ?? title, key);
  const commands = handles.list(id).filter(({ hasEnded, isOutputOnly }) => !hasEnded && !isOutputOnly).length;
  return {
    id,
    title: shown === '' ? null : shown,
    last_activated_at: new Date(lastActivity).toISOString(),
    events_count: lastSeq,
    ...(subagent && { subagent: { parent: subagent.parent, name: maskKey(subagent.name, key) } }),
    choice: listedChoice(choice, settings()),
    ...(forkedFrom !== undefined && { forked: true as const }),
    ...(unreviewed > 0 && { unreviewed }),
    ...(commands > 0 && { commands }),
    ...defined({ problem }),
  };
}

async function readConversation(ports: LocalPorts, conversation: string): Promise<Result<VerbResult<'read_events'>>> {
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
  if (data.length === 0) return failed('no_conversation', 'There is no such conversation.');
  const lock = await lockOf(ports, conversation, turn.isOpen);
  const title = summary.title === '' ? null : summary.title;
  const shown = { conversation, lock, title, data };
  // A front end must never get the key.
  return succeeded(JSON.parse(maskKey(JSON.stringify(shown), turn.key)) as typeof shown);
}

/** Where a turn runs, if any does. A turn that a crashed window left open is not running. */
async function lockOf(
  { earshot, lock, isAlive }: LocalPorts,
  conversation: string,
  isOpen: boolean,
): Promise<'free' | 'elsewhere' | 'here'> {
  const live = earshot.get(conversation);
  if (live?.running === true) return 'here';
  if (!isOpen || live?.owned === true) return 'free';
  const owner = await lock.owner(conversation);
  return owner !== undefined && isAlive(owner.pid) ? 'elsewhere' : 'free';
}

/** The transcript, read from the log if the conversation is not live. */
async function itemsOf(
  { earshot, store }: LocalPorts,
  conversation: string,
): Promise<Result<readonly TranscriptItem[]>> {
  const live = earshot.get(conversation);
  if (live !== undefined) return succeeded(live.log.state.transcript.items);
  const read = await store.scan(conversation, 0);
  if (!read.ok) return read;
  const state = new Projections();
  for (const event of read.value.events) state.fold(event);
  return succeeded(state.transcript.items);
}
