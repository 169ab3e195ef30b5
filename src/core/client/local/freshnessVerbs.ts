// The local verbs about what the model knows of files: the list, and notifications that bring it up to date.
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type ConversationLog } from '../../conversation/log.ts';
import { Seen } from '../../conversation/projections/seen.ts';
import { enqueue } from '../../notify/queue.ts';
import { isWanted } from '../../notify/wanted.ts';
import { fileDeleted, fileUpdate } from '../../notify/wording/fileChange.ts';
import { countOlder, readFreshness } from '../../knowledge/freshness.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { whileOwned } from './owning.ts';

export function createFreshnessVerbs(ports: LocalPorts): Pick<LocalVerbs, 'read_freshness' | 'update_files'> {
  return {
    read_freshness: async ({ conversation }) => {
      const seen = await seenOf(ports, conversation);
      if (!seen.ok) return seen;
      const older = countOlder(seen.value);
      return succeeded({ data: await readFreshness(depsOf(ports), seen.value), ...(older > 0 && { older }) });
    },
    update_files: (params) => whileOwned(ports, params.conversation, () => updateFiles(ports, params)),
  };
}

function depsOf({ snapshots, files: { workspace } }: LocalPorts) {
  return { snapshots, workspace };
}

/** Read from the log if the conversation is not live. */
async function seenOf({ earshot, store }: LocalPorts, conversation: string): Promise<Result<Seen>> {
  const live = earshot.get(conversation);
  if (live !== undefined) return succeeded(live.log.state.seen);
  const read = await store.scan(conversation, 0);
  if (!read.ok) return read;
  const seen = new Seen();
  for (const event of read.value.events) seen.fold(event);
  return succeeded(seen);
}

type Updated = VerbResult<'update_files'>;

async function updateFiles(
  ports: LocalPorts,
  { conversation, paths }: VerbParams<'update_files'>,
): Promise<Result<Updated>> {
  const log = ports.earshot.get(conversation)?.log;
  if (log === undefined) return failed('no_conversation', 'There is no such conversation.');
  const wanted = paths && new Set(paths);
  const files = await readFreshness(depsOf(ports), log.state.seen);
  const done: string[] = [];
  const stayed: Updated['stayed'][number][] = [];
  for (const { path, updatable } of files) {
    if (wanted?.has(path) === false || updatable !== true) continue;
    const problem = await update(ports, log, path);
    if (problem === undefined) done.push(path);
    else stayed.push({ path, reason: problem });
  }
  return succeeded({ done, stayed });
}

/** Returns why it could not be done. */
async function update(ports: LocalPorts, log: ConversationLog, path: string): Promise<string | undefined> {
  const { snapshots, files, clock, ids, settings } = ports;
  const file = await files.workspace.resolve(path);
  const read = file.ok ? await files.workspace.read(file.value) : file;
  if (!read.ok && read.failure.code !== 'not_found') return read.failure.message;
  // Stored before an event names it.
  const now = read.ok ? { bytes: read.value.bytes, hash: await snapshots.put(read.value.bytes) } : undefined;
  const before = await snapshots.get(log.state.seen.get(path)?.hash ?? '');
  const draft = now === undefined ? fileDeleted(path) : fileUpdate(path, before, now);
  const at = new Date(clock.now()).toISOString();
  if (!isWanted({ ...draft, id: '', at }, settings()))
    return `The settings do not deliver notifications of the kind file.${draft.kind.name}.`;
  // Not through the dispatcher, which leaves out a state that was announced before.
  await enqueue(log, ids, { ...draft, at }, true);
  return undefined;
}
