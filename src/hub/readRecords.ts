// Reads the hub's files when it opens. An incomplete last line is cut off and saved; other damaged lines are skipped.
import { parseJson } from '../base/json/outsideJson.ts';
import { join } from 'node:path';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { hubRecord, messageRecord } from '../protocol/hub.ts';
import { type AnyRecord, type StoredRecord } from './hubWriter.ts';

export const HUB_FILE = 'hub.jsonl';
export const MESSAGES_FOLDER = 'messages';
export const RECEIVED_FOLDER = 'received';

export interface HubFiles {
  readonly records: readonly StoredRecord[];
  /** The length of every file, after repairs. */
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

/** The file with records of another machine, separate from those that this hub publishes. */
export function receivedFile(machine: string): string {
  return `${RECEIVED_FOLDER}/${machine}.jsonl`;
}

/** The agent whose messages this file holds; undefined for other files. */
export function authorOf(file: string): string | undefined {
  const [folder, name] = file.split('/');
  return folder === MESSAGES_FOLDER ? name?.slice(0, -'.jsonl'.length) : undefined;
}

/** Records in the order of arrival. `from`: the offset in each file to start from. */
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
    // Not as arguments of one `push`: a long file would overflow the stack.
    for (const record of read.records) records.push(record);
  }
  records.sort((a, b) => a.record.n - b.record.n);
  return { records, lengths };
}

/** Records in the order of arrival, up to these lengths. For a hub that runs: repairs nothing. */
export async function readWrittenFiles(deps: ReadDeps, lengths: ReadonlyMap<string, number>): Promise<StoredRecord[]> {
  const records: StoredRecord[] = [];
  for (const [name, length] of lengths) {
    const bytes = Buffer.from((await deps.files.readFrom(join(deps.folder, name), 0, length)) ?? new Uint8Array());
    for (const record of parseRecords(deps, name, 0, bytes.subarray(0, length))) records.push(record);
  }
  return records.sort((a, b) => a.record.n - b.record.n);
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
  return { records: parseRecords(deps, name, start, bytes), length: start + whole };
}

/** `bytes` begin at the offset `start`. */
function parseRecords(deps: ReadDeps, name: string, start: number, bytes: Buffer): StoredRecord[] {
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
  return records;
}

/** An incomplete line was never acknowledged. It is saved next to the file for inspection. */
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
  return (name === HUB_FILE ? hubRecord : messageRecord).safeParse(parseJson(line.toString('utf8'))).data;
}
