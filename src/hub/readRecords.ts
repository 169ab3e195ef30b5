// Reads the hub's files when it opens: whole lines become records, a torn end is cut off and kept, other damage is stepped over.
import { join } from 'node:path';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type HubRecord, hubRecord, type MessageRecord, messageRecord } from '../protocol/hub.ts';
import { type AnyRecord, type StoredRecord } from './hubWriter.ts';

export const HUB_FILE = 'hub.jsonl';
export const MESSAGES_FOLDER = 'messages';
export const RECEIVED_FOLDER = 'received';

export interface HubFiles {
  readonly records: readonly StoredRecord[];
  /** Of every file, after the repair. */
  readonly lengths: ReadonlyMap<string, number>;
}

export interface ReadDeps {
  readonly files: FileSystem;
  readonly folder: string;
  report(message: string): void;
}

export function messageFile(agent: string): string {
  return `${MESSAGES_FOLDER}/${agent}.jsonl`;
}

/** What another machine's agents wrote, apart from what this hub publishes. */
export function receivedFile(machine: string): string {
  return `${RECEIVED_FOLDER}/${machine}.jsonl`;
}

/** The agent whose messages this file holds; undefined for other files. */
export function authorOf(file: string): string | undefined {
  const [folder, name] = file.split('/');
  return folder === MESSAGES_FOLDER ? name?.slice(0, -'.jsonl'.length) : undefined;
}

/** In the order of arrival. `from`: how far each file is known. */
export async function readHubFiles(deps: ReadDeps, from: ReadonlyMap<string, number>): Promise<HubFiles> {
  const { files, folder } = deps;
  const names: string[] = [];
  for (const inner of [MESSAGES_FOLDER, RECEIVED_FOLDER]) {
    const found = (await files.list(join(folder, inner))).filter((name) => name.endsWith('.jsonl'));
    names.push(...found.map((name) => `${inner}/${name}`));
  }
  const lengths = new Map<string, number>();
  const records: StoredRecord[] = [];
  for (const name of [HUB_FILE, ...names]) {
    const read = await readRecords(deps, name, from.get(name) ?? 0);
    lengths.set(name, read.length);
    // Arguments go on the stack, which a long file would overflow.
    for (const record of read.records) records.push(record);
  }
  records.sort((a, b) => a.record.n - b.record.n);
  return { records, lengths };
}

async function readRecords(
  deps: ReadDeps,
  name: string,
  start: number,
): Promise<{ records: StoredRecord[]; length: number }> {
  const path = join(deps.folder, name);
  const bytes = Buffer.from((await deps.files.readFrom(path, start)) ?? new Uint8Array());
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) await cutOff(deps, name, start + whole, bytes.subarray(whole));
  const records: StoredRecord[] = [];
  let damaged = 0;
  let line = 0;
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, line)) {
    const record = parseRecord(name, bytes.subarray(line, end));
    if (record === undefined) damaged += 1;
    else records.push({ file: name, end: start + end + 1, record });
    line = end + 1;
  }
  if (damaged > 0) deps.report(`${name}: ${damaged} lines are damaged and were left out`);
  return { records, length: start + whole };
}

/** Half a line was never acknowledged. It is kept beside the file, so that one can look at it. */
async function cutOff(
  { files, folder, report }: ReadDeps,
  name: string,
  length: number,
  torn: Uint8Array,
): Promise<void> {
  const path = join(folder, name);
  await files.writeWhole(`${path}.torn`, torn);
  const file = await files.openForAppend(path);
  try {
    await file.truncate(length);
    await file.sync();
  } finally {
    await file.close();
  }
  report(`${name}: its end was torn; ${torn.length} bytes were cut off and kept beside it`);
}

function parseRecord(name: string, line: Buffer): AnyRecord | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    const parsed = name === HUB_FILE ? hubRecord.safeParse(value) : messageRecord.safeParse(value);
    return parsed.data satisfies HubRecord | MessageRecord | undefined;
  } catch {
    return undefined;
  }
}
