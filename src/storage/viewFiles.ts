// Records which windows show a conversation and where the user types: one small file per window in its folder.
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type Views } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type Places } from './places.ts';

export interface ViewFilesDeps {
  readonly files: FileSystem;
  readonly places: Places;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pid: number;
  /** Distinguishes the windows of one process. */
  readonly name: string;
  isAlive(pid: number): boolean;
  /** Distinguishes a process from a later one with the same id; undefined if that is not known. */
  startTimeOf(pid: number): string | undefined;
}

const PREFIX = 'view-';
/** The user counts as typing for this long after the last key press. */
const TYPING_MILLISECONDS = 10_000;
/** Shortest time between two writes of the file while the user types, in milliseconds. */
const WRITE_EVERY = 2000;

const viewSchema = z.strictObject({ pid: z.int(), start_time: z.string().optional(), typed_at: z.number().optional() });

/** A window that crashed leaves its file behind; the next read removes it. Failed writes are only logged. */
export function createViews(deps: ViewFilesDeps): Views {
  const { files, places, clock, logger, pid, name } = deps;
  const ownFile = `${PREFIX}${pid}-${name}.json`;
  let shown: string | undefined;
  let typedAt: number | undefined;
  let startTime: string | undefined;
  const writing = new Sequence();
  const schedule = (write: () => Promise<void>) => {
    const report = (error: unknown) =>
      logger.warn(`the file that tells other windows what this one shows cannot be written: ${describeError(error)}`);
    void writing.run(write).catch(report);
  };
  const write = async (conversation: string, typed: number | undefined) => {
    const folder = await places.folderOf(conversation);
    await files.makeFolder(folder);
    startTime ??= deps.startTimeOf(pid);
    const view: z.infer<typeof viewSchema> = { pid, start_time: startTime, typed_at: typed };
    await files.writeWhole(join(folder, ownFile), Buffer.from(JSON.stringify(view)));
  };
  const isOpen = ({ pid: other, start_time: started }: z.infer<typeof viewSchema>) =>
    started === undefined ? deps.isAlive(other) : deps.startTimeOf(other) === started;
  const remove = async (conversation: string) => files.remove(join(await places.folderOf(conversation), ownFile));
  const views = async (conversation: string) => {
    const folder = await places.folderOf(conversation);
    const names = (await files.list(folder)).filter((one) => one.startsWith(PREFIX) && one.endsWith('.json'));
    const read = await Promise.all(
      names.map(async (one) => {
        const view = parse(await files.read(join(folder, one)));
        if (view === undefined) return [];
        if (isOpen(view)) return [{ own: one === ownFile, ...view }];
        await files.remove(join(folder, one));
        return [];
      }),
    );
    return read.flat();
  };
  return {
    show: (conversation) => {
      if (conversation === shown) return;
      const before = shown;
      shown = conversation;
      typedAt = undefined;
      if (before !== undefined) schedule(() => remove(before));
      if (conversation !== undefined) schedule(() => write(conversation, undefined));
    },
    typed: () => {
      const now = clock.now();
      if (shown === undefined || (typedAt !== undefined && now - typedAt < WRITE_EVERY)) return;
      typedAt = now;
      const conversation = shown;
      schedule(() => write(conversation, now));
    },
    isShown: async (conversation) => {
      await writing.settled();
      return (await views(conversation)).length > 0;
    },
    isTypedElsewhere: async (conversation) => {
      const since = clock.now() - TYPING_MILLISECONDS;
      return (await views(conversation)).some(({ own, typed_at: at = 0 }) => !own && at > since);
    },
  };
}

function parse(bytes: Uint8Array | undefined): z.infer<typeof viewSchema> | undefined {
  try {
    return viewSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}
