// Real storage and real logs on a faulty in-memory disk, with a deterministic clock and deterministic ids.
import { createUlids } from '../../../src/base/ulid.ts';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { type Projections } from '../../../src/core/conversation/projections/project.ts';
import { type Clock, type Ids, type Logger } from '../../../src/core/ports/ports.ts';
import { type TryLock } from '../../../src/node/kernelLock.ts';
import { type Notification, type NotificationDraft } from '../../../src/protocol/notification.ts';
import { createStorage, type Storage } from '../../../src/storage/storage.ts';
import { FaultyFileSystem } from './faultyFileSystem.ts';

export const STORAGE = '/storage';

export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A stopped clock: timers never fire. */
export const stillClock: Clock = {
  now: () => 1_700_000_000_000,
  monotonic: () => 0,
  after: () => ({ dispose: () => undefined }),
};

export function countingIds(): Ids {
  let time = 1_700_000_000_000;
  const ulid = createUlids(
    () => time++,
    (bytes) => bytes.fill(7),
  );
  return { ulid, key: () => 'key-of-a-conversation' };
}

/** Locks shared by the windows of one test. */
export function memoryLocks(): TryLock {
  const held = new Set<string>();
  return (path) => {
    if (held.has(path)) return undefined;
    held.add(path);
    return { release: () => held.delete(path) };
  };
}

export interface MemoryWindow {
  readonly files: FaultyFileSystem;
  readonly storage: Storage;
  readonly ids: Ids;
}

export function memoryWindow(
  files = new FaultyFileSystem(),
  ids = countingIds(),
  options: { tryLock?: TryLock; window?: string; clock?: Clock; log?: Logger; folder?: string } = {},
): MemoryWindow {
  const { tryLock = memoryLocks(), window = 'one', clock = stillClock, log = silentLogger, folder = STORAGE } = options;
  return { files, ids, storage: createStorage({ files, folder, clock, ids, logger: log, window, tryLock }) };
}

/** Opens a log as its owner, without a lock. */
export async function openLog({ storage, ids }: MemoryWindow, id: string): Promise<ConversationLog> {
  const opened = await storage.store.open(id);
  if (!opened.ok) throw new Error(opened.failure.message);
  return new ConversationLog({ id, opened: opened.value, clock: stillClock, ids, logger: silentLogger });
}

export function pathOf(id: string, name = 'events.jsonl'): string {
  return `${STORAGE}/conversations/${id}/${name}`;
}

export function draftOf(subject: string, more: Partial<NotificationDraft> = {}): NotificationDraft {
  return {
    kind: { source: 'file', name: 'changed' },
    level: 'warning',
    message: `${subject} changed`,
    subject: `file:${subject}`,
    origin: 'filesystem',
    at: '2026-01-02T03:04:05.000Z',
    ...more,
  };
}

export function notificationOf(id: string, subject: string, more: Partial<NotificationDraft> = {}): Notification {
  return { ...draftOf(subject, more), id };
}

/** The projections as plain data that can be compared. */
export function describeState(state: Projections): unknown {
  return {
    messages: state.messages.all,
    items: state.transcript.items,
    pending: state.pending.notifications,
    count: state.pending.count,
    texts: state.pending.queuedMessages,
    seen: [...state.seen.paths()].map((path) => [path, state.seen.get(path)]),
    open: state.turn.isOpen,
    key: state.turn.key,
    unanswered: state.turn.unanswered,
    standing: state.outstanding.facts,
    title: state.summary.title,
    forkedFrom: state.summary.forkedFrom,
  };
}
