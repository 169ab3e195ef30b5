// Opens the index when the hub starts: completes it from the files, or makes it again.
import { pause } from '../../base/async.ts';
import { describeError } from '../../base/errors.ts';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type DirectorySnapshot, directorySnapshot } from '../directory.ts';
import { type StoredRecord } from '../hubWriter.ts';
import { HUB_FILE, type HubFiles } from '../readRecords.ts';
import { BUSY_INTERVAL, BUSY_LIMIT, type LiveIndexDeps, removeIndex } from './liveIndex.ts';
import { MessageIndex } from './messageIndex.ts';
import { isBusy, isSqliteError } from './sqliteErrors.ts';

/** Reads the hub's files, each from its offset on. */
type Read = (from: ReadonlyMap<string, number>) => Promise<HubFiles>;

export interface OpenedIndex {
  readonly index: MessageIndex;
  readonly found: HubFiles;
  /** The stored state of `hub.jsonl`; the rest of that file is in `found`. */
  readonly known?: DirectorySnapshot | undefined;
  /** The highest arrival number. */
  readonly last: number;
}

/** Waits for the lock of another process. If it is not released, the index is made in memory and the file is left. */
export async function openIndex(deps: LiveIndexDeps, read: Read): Promise<OpenedIndex> {
  const { clock, sqlite, path } = deps;
  const limit = clock.now() + BUSY_LIMIT;
  let busy = false;
  do {
    if (busy) await pause(clock, BUSY_INTERVAL);
    let index: MessageIndex | undefined;
    try {
      index = MessageIndex.open(sqlite, path);
      const opened = index && (await complete(index, read));
      if (opened !== undefined) return opened;
      busy = false;
      index?.close();
    } catch (error) {
      index?.close();
      if (!isSqliteError(error)) throw error;
      busy = isBusy(error);
    }
  } while (busy && clock.now() < limit);
  const found = await read(new Map());
  return { index: createIndex(deps, found.records, busy), found, last: found.records.at(-1)?.record.n ?? 0 };
}

/** Adds the records that the index does not have. Undefined: the index does not belong to the files. */
async function complete(index: MessageIndex, read: Read): Promise<OpenedIndex | undefined> {
  const lengths = index.lengths();
  const known = readDirectory(index.directory);
  const hubLength = Math.min(known?.length ?? 0, lengths.get(HUB_FILE) ?? 0);
  const found = await read(new Map(lengths).set(HUB_FILE, hubLength));
  // A file that is shorter than its indexed part was replaced or cut.
  if ([...lengths].some(([name, length]) => (found.lengths.get(name) ?? 0) < length)) return undefined;
  const missing = found.records.filter(({ file, end }) => end > (lengths.get(file) ?? 0));
  if (missing.length > 0) index.apply(missing);
  return { index, found, known, last: Math.max(index.lastNumber, found.records.at(-1)?.record.n ?? 0) };
}

function createIndex(
  { sqlite, path, report }: LiveIndexDeps,
  records: readonly StoredRecord[],
  busy: boolean,
): MessageIndex {
  let index: MessageIndex | undefined;
  try {
    if (busy) throw new Error('another process has locked it');
    removeIndex(path);
    index = MessageIndex.create(sqlite, path);
    index.apply(records);
    return index;
  } catch (error) {
    index?.close();
    report(`the index cannot be made and is kept in memory: ${describeError(error)}`);
    const inMemory = MessageIndex.create(sqlite, ':memory:');
    inMemory.apply(records);
    return inMemory;
  }
}

function readDirectory(printed: string | undefined): DirectorySnapshot | undefined {
  return printed === undefined ? undefined : directorySnapshot.safeParse(parseObject(printed)).data;
}
