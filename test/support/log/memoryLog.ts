// A conversation's log whose file is a list in memory, for tests of what is decided and not of how it is kept.
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { type EventFile } from '../../../src/core/ports/storage.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { createManualClock, type ManualClock } from '../manualClock.ts';
import { recordingLog } from '../recordingLogger.ts';

export interface MemoryLog {
  readonly log: ConversationLog;
  /** What would be on disk. */
  readonly written: readonly LogEvent[];
  readonly clock: ManualClock;
}

/** With a key, as every conversation has from its first event on. */
export async function createMemoryLog(key = 'k7QdQ8vXw2Lm9ZtY4nBs1A'): Promise<MemoryLog> {
  const written: LogEvent[] = [];
  const clock = createManualClock();
  const file: EventFile = {
    append: async (event) => void written.push(event),
    repair: async () => ({ events: written, nextSeq: written.length + 1, damage: [] }),
    close: async () => undefined,
  };
  const opened = { file, events: [], nextSeq: 1, damage: [] };
  const log = new ConversationLog({ id: realIds.ulid(), opened, clock, ids: realIds, logger: recordingLog([]) });
  await log.append({ type: 'conversation_started', key });
  return { log, written, clock };
}
