// The files and socket messages that a supervisor and the window that owns it exchange.
import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type CommandEnd } from '../../base/commandEnd.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type FileSystem, realFileSystem } from '../files/fileSystem.ts';

const specSchema = z.object({
  command: z.string(),
  shell: z.object({ path: z.string(), args: z.readonly(z.array(z.string())) }),
  folder: z.string(),
  input: z.boolean(),
  /** A window that knows the token may own the command. */
  token: z.string(),
  socket: z.string(),
  /** Without an owner for this long, the whole process tree is ended. */
  unownedMilliseconds: z.number(),
  /** Time between asking the process tree to end and killing it. */
  graceMilliseconds: z.number(),
});
/** Written by the owner before it starts the supervisor. */
export type SupervisorSpec = Readonly<z.infer<typeof specSchema>>;

const identitySchema = z.object({ pid: z.number(), startTime: z.string() });
export type ProcessIdentity = Readonly<z.infer<typeof identitySchema>>;

const endSchema: z.ZodMiniType<CommandEnd> = z.object({
  cause: z.enum(['exited', 'stopped', 'unowned', 'not_started']),
  code: z.nullable(z.number()),
  signal: z.nullable(z.string()),
  reason: z.exactOptional(z.string()),
  left: z.exactOptional(z.literal(true)),
  survivors: z.exactOptional(z.array(z.object({ pid: z.number(), name: z.string() }))),
  outputProblem: z.exactOptional(z.string()),
  at: z.string(),
  milliseconds: z.number(),
});

const stateSchema = z.object({
  supervisor: identitySchema,
  /** The command itself; absent if it could not be started. */
  process: z.exactOptional(identitySchema),
  /** RFC 3339. */
  startedAt: z.string(),
  inputOpen: z.boolean(),
  end: z.exactOptional(endSchema),
  /** Rises with every written state, so that the newer one of the two files is used. */
  revision: z.exactOptional(z.number()),
});
/** Written by the supervisor, whole and durably, whenever it changes. */
export type SupervisorState = Readonly<z.infer<typeof stateSchema>>;

const toSupervisorSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), token: z.string() }),
  z.object({ type: z.literal('input'), id: z.number(), text: z.string(), last: z.boolean() }),
  z.object({ type: z.literal('stop'), reason: z.string() }),
  z.object({ type: z.literal('interrupt') }),
]);
export type ToSupervisor = Readonly<z.infer<typeof toSupervisorSchema>>;

const fromSupervisorSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('state'), state: stateSchema, size: z.number(), kept: z.number() }),
  z.object({ type: z.literal('output'), size: z.number(), kept: z.number() }),
  z.object({ type: z.literal('input_taken'), id: z.number(), problem: z.exactOptional(z.string()) }),
]);
export type FromSupervisor = Readonly<z.infer<typeof fromSupervisorSchema>>;

/** Passes the user's NODE_OPTIONS to the command without applying them to the supervisor's own Node process. */
export const OWN_NODE_OPTIONS = 'EARSHOT_NODE_OPTIONS';

/** The command's mark, which does not reveal the token. */
export function markOf({ token }: SupervisorSpec): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 32);
}

export const LINE_LIMIT = 4 * 1024 * 1024;

const specFile = 'spec.json';
const stateFile = 'state.json';

const encoder = new TextEncoder();

export async function writeSpec(folder: string, spec: SupervisorSpec): Promise<void> {
  await realFileSystem.writeWhole(join(folder, specFile), encoder.encode(JSON.stringify(spec)));
}

/** Undefined if the file is missing or not valid. */
export async function readSpec(folder: string): Promise<SupervisorSpec | undefined> {
  return parseJson(specSchema, await readText(folder, specFile));
}

/** The newest state, from either file. */
export async function readState(folder: string): Promise<SupervisorState | undefined> {
  const [whole, reserved] = await Promise.all(
    [stateFile, reserveFile].map(async (name) => parseJson(stateSchema, await readText(folder, name))),
  );
  return (reserved?.revision ?? 0) > (whole?.revision ?? 0) ? reserved : whole;
}

const reserveFile = 'reserve.json';
const RESERVED_BYTES = 8 * 1024;
/** Longest free text in a state that must fit into the reserve. */
const LONGEST_TEXT = 500;

/**
 * Stores a supervisor's state, even on a full disk: it reserves bytes before the command starts and overwrites them if
 * a state cannot be written otherwise.
 */
export class StateKeeper {
  readonly #folder: string;
  readonly #files: Pick<FileSystem, 'writeWhole'>;
  #reserve: FileHandle | undefined;
  #revision = 0;

  constructor(folder: string, files: Pick<FileSystem, 'writeWhole'> = realFileSystem) {
    this.#folder = folder;
    this.#files = files;
  }

  /** Called before the command starts, so that its end can be recorded. */
  async reserve(): Promise<void> {
    await this.#files.writeWhole(join(this.#folder, reserveFile), Buffer.alloc(RESERVED_BYTES, ' '));
    this.#reserve = await open(join(this.#folder, reserveFile), 'r+');
  }

  /** Rejects if the state could not be stored at all. */
  async write(state: SupervisorState): Promise<void> {
    this.#revision += 1;
    const revised = { ...state, revision: this.#revision };
    try {
      await this.#files.writeWhole(join(this.#folder, stateFile), encoder.encode(JSON.stringify(revised)));
    } catch (error) {
      if (this.#reserve === undefined) throw error;
      await this.#reserve.write(padded(revised), 0, RESERVED_BYTES, 0);
      await this.#reserve.datasync();
    }
  }

  async close(): Promise<void> {
    await this.#reserve?.close();
    this.#reserve = undefined;
  }
}

function padded(state: SupervisorState): Buffer {
  const { end } = state;
  const short = end && { ...end, ...shortened(end, 'reason'), ...shortened(end, 'outputProblem') };
  const bytes = Buffer.alloc(RESERVED_BYTES, ' ');
  bytes.write(JSON.stringify({ ...state, ...(short && { end: short }) }));
  return bytes;
}

function shortened(end: CommandEnd, field: 'reason' | 'outputProblem'): Partial<CommandEnd> {
  const text = end[field];
  return text === undefined ? {} : { [field]: wholeCharacters(text, LONGEST_TEXT) };
}

/** One line from the supervisor; undefined if it is not valid. */
export function readMessage(line: string): FromSupervisor | undefined {
  return parseJson(fromSupervisorSchema, line);
}

/** One line from the owner; undefined if it is not valid. */
export function readRequest(line: string): ToSupervisor | undefined {
  return parseJson(toSupervisorSchema, line);
}

function readText(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8').catch(() => '');
}

function parseJson<T>(schema: z.ZodMiniType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
