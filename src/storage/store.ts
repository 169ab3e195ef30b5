// Opens, follows, lists, creates and removes a workspace's conversations.
import { dirname, join } from 'node:path';
import { type Clock } from '../base/clock.ts';
import { describeError, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { ULID_PATTERN } from '../base/ulid.ts';
import { Choice } from '../core/conversation/choices.ts';
import { Changes } from '../core/conversation/projections/changes.ts';
import { Summary } from '../core/conversation/projections/summary.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type ConversationSummary, type ListedFacts, type Store, type LogEnd } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type LogEvent } from '../protocol/event.ts';
import { LineBuffer, openEventFile } from './eventFile.ts';
import { followEventFile } from './followedFile.ts';
import { type Places } from './places.ts';
import { LogFileReader } from './logReader.ts';
import { readEvents } from './readEvents.ts';
import { listedFacts, readTitle } from './titleFile.ts';
import { checkLine, parseLine } from './line.ts';

export interface StoreDeps {
  readonly files: FileSystem;
  readonly places: Places;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Prefix of folders that are being removed; after a crash, the clean-up removes them. */
export const REMOVED = '.removed-';

export function createStore(deps: StoreDeps): Store {
  const { files, places, clock, logger } = deps;
  const pathOf = async (id: string) => join(await places.folderOf(id), 'events.jsonl');
  /** Next to the folder of the conversations: one empty file for each, so that windows do not overwrite each other. */
  const duePlace = async (id: string) => join(dirname(dirname(await places.folderOf(id))), 'due', id);
  const read = async (id: string, after = 0) =>
    readEvents((await files.read(await pathOf(id))) ?? new Uint8Array(), undefined, after);
  /** Ids from outside are validated before they become paths. */
  const guard = async <T>(id: string, action: () => Promise<T>): Promise<Result<T>> => {
    if (!ULID_PATTERN.test(id)) return failed('bad_id', `“${id}” is not the id of a conversation.`);
    return attempt(action);
  };
  return {
    open: (id) =>
      guard(id, async () => {
        const path = await pathOf(id);
        await files.makeFolder(dirname(path));
        return openEventFile({ files, path, logger });
      }),
    follow: (id) => guard(id, async () => followEventFile({ files, path: await pathOf(id), clock, logger })),
    read: (id) =>
      guard(id, async () => {
        const { events, nextSeq, damage } = await read(id);
        return { events: [...events], nextSeq, damage };
      }),
    scan: (id, after) => guard(id, () => read(id, after)),
    reader: (id) => {
      let file: LogFileReader | undefined;
      return {
        read: () =>
          guard(id, async () => {
            file ??= new LogFileReader(files, await pathOf(id));
            return file.read();
          }),
      };
    },
    end: (id) => guard(id, async () => readLogEnd(files, await pathOf(id))),
    sizes: () =>
      attempt(async () => {
        const sizes = new Map<string, number>();
        for (const storage of await places.storages()) {
          const folder = join(storage, places.name);
          for (const id of (await files.list(folder)).filter((name) => ULID_PATTERN.test(name))) {
            const stat = await files.stat(join(folder, id, 'events.jsonl'));
            if (stat !== undefined) sizes.set(id, stat.size);
          }
        }
        return sizes;
      }),
    create: (id, events) =>
      guard(id, async () => {
        const path = await pathOf(id);
        await files.makeFolder(dirname(path));
        const lines = new LineBuffer();
        for (const event of events) lines.add(event);
        await files.writeWhole(path, lines.bytes);
      }),
    remove: (id) =>
      guard(id, async () => {
        const folder = await places.folderOf(id);
        const removed = join(dirname(folder), `${REMOVED}${id}`);
        await files.move(folder, removed);
        await files.remove(removed);
        await files.remove(join(dirname(dirname(folder)), 'due', id));
      }),
    due: {
      mark: async (id) => {
        const place = await duePlace(id);
        await files.makeFolder(dirname(place));
        await files.writeWhole(place, new Uint8Array());
      },
      unmark: async (id) => files.remove(await duePlace(id)),
      list: async () => {
        const found = (await places.storages()).map((storage) => files.list(join(storage, 'due')));
        return (await Promise.all(found)).flat().filter((name) => ULID_PATTERN.test(name));
      },
    },
    list: () =>
      attempt(async () => {
        const found = await Promise.all(
          (await places.storages()).map((storage) => listIn(deps, join(storage, places.name))),
        );
        return found.flat().sort((a, b) => b.lastActivity - a.lastActivity || (a.id < b.id ? 1 : -1));
      }),
  };
}

async function listIn(deps: StoreDeps, folder: string): Promise<ConversationSummary[]> {
  const ids = (await deps.files.list(folder)).filter((name) => ULID_PATTERN.test(name));
  const summaries = await Promise.all(
    ids.map(async (id) => {
      try {
        return await summaryOf(deps, join(folder, id), id);
      } catch (error) {
        // An unreadable conversation must not hide the others.
        deps.logger.error(`the conversation ${id} cannot be read`, error);
        return { id, title: '', lastActivity: 0, problem: `It cannot be read: ${describeError(error)}.` };
      }
    }),
  );
  return summaries.filter((summary) => summary !== undefined);
}

/** Reads the title file or, if it is missing, the whole log. */
async function summaryOf(deps: StoreDeps, folder: string, id: string): Promise<ConversationSummary | undefined> {
  const { files } = deps;
  const stat = await files.stat(join(folder, 'events.jsonl'));
  if (stat === undefined) return undefined;
  const kept = await readTitle(files, folder);
  const listed =
    kept ?? summarize(readEvents((await files.read(join(folder, 'events.jsonl'))) ?? new Uint8Array()).events);
  return { id, title: listed.title, lastActivity: stat.modified, ...listedFacts(listed) };
}

function summarize(events: Iterable<LogEvent>): ListedFacts & { readonly title: string } {
  const [summary, changes, choice] = [new Summary(), new Changes(), new Choice()];
  for (const event of events) {
    summary.fold(event);
    changes.fold(event);
    choice.fold(event);
  }
  const { title, subagent, forkedFrom } = summary;
  return { title, subagent, forkedFrom, unreviewed: changes.open.size, choice: choice.current };
}

async function attempt<T>(action: () => Promise<T>): Promise<Result<T>> {
  try {
    return succeeded(await action());
  } catch (error) {
    if (error instanceof FailureError) return { ok: false, failure: error.failure };
    return failed(
      'storage',
      `Earshot cannot keep conversations: ${describeError(error)}.`,
      'Make the folder that it names readable and writable, then reload the window.',
    );
  }
}

const NEWLINE = 0x0a;
/** Bytes read from the end; longer than most lines. */
const TAIL = 64 * 1024;
/** Bytes read from the start; the first event, which has the key, is shorter. */
const HEAD = 4096;

/**
 * Reads the last sequence number and the key of a log from the two ends of its file, without reading the middle.
 */
async function readLogEnd(files: FileSystem, path: string): Promise<LogEnd> {
  const stat = await files.stat(path);
  if (stat === undefined)
    throw new FailureError({ code: 'no_conversation', message: 'There is no such conversation.' });
  const lastActivity = stat.modified;
  const lastSeq = await readTail(files, path, stat.size);
  const key = lastSeq === undefined ? '' : keyIn((await files.readFrom(path, 0, HEAD)) ?? new Uint8Array());
  if (lastSeq !== undefined && key !== '') return { lastSeq, key, lastActivity };
  const bytes = (await files.read(path)) ?? new Uint8Array();
  return { lastSeq: readEvents(bytes).nextSeq - 1, key: keyIn(bytes), lastActivity };
}

/** The number of the last line; undefined if it is damaged or longer than the tail. */
async function readTail(files: FileSystem, path: string, size: number): Promise<number | undefined> {
  const from = Math.max(0, size - TAIL);
  const bytes = Buffer.from((await files.readFrom(path, from)) ?? new Uint8Array());
  const end = bytes.lastIndexOf(NEWLINE);
  const start = end < 1 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
  if (end < 1 || (start === -1 && from > 0)) return undefined;
  const line = checkLine(bytes.subarray(start + 1, end));
  return line.kind === 'whole' ? line.seq : undefined;
}

/** The key is in the first event, also in a fork. */
function keyIn(input: Uint8Array): string {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.length);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return '';
    const line = bytes.subarray(start, end);
    start = end + 1;
    if (checkLine(line).kind !== 'whole') continue;
    const parsed = parseLine(line);
    if (parsed.kind === 'event' && parsed.event.type === 'conversation_started') return parsed.event.key;
  }
  return '';
}
