// A conversation's log with an in-memory file, for tests that are not about storage.
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { type EventFile } from '../../../src/core/ports/storage.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { recordingLogger } from '../recordingLogger.ts';

export interface MemoryLog {
  readonly log: ConversationLog;
  /** The events that would be on disk. */
  readonly written: readonly LogEvent[];
  readonly clock: ManualClock;
}

/** The log already has its first event, which contains the key. */
export async function createMemoryLog(key = 'k7QdQ8vXw2Lm9ZtY4nBs1A'): Promise<MemoryLog> {
  const written: LogEvent[] = [];
  const clock = createManualClock();
  const file: EventFile = {
    append: async (event) => void written.push(event),
    repair: async () => ({ events: written, nextSeq: written.length + 1, damage: [] }),
    close: async () => undefined,
  };
  const opened = { file, events: [], nextSeq: 1, damage: [] };
  const log = new ConversationLog({ id: realIds.ulid(), opened, clock, ids: realIds, logger: recordingLogger([]) });
  await log.append({ type: 'conversation_started', key });
  return { log, written, clock };
}
