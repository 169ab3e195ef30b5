// What a supervisor and the window that owns it say to each other: files beside the output, and lines over a private socket.
import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wholeCharacters } from '../base/text.ts';
import { type FileSystem, realFileSystem } from './fileSystem.ts';
import { type ShellProgram, type Survivor } from './processTree.ts';

/** Written by the owner before the supervisor is started. */
export interface SupervisorSpec {
  readonly command: string;
  readonly shell: ShellProgram;
  readonly folder: string;
  readonly input: boolean;
  /** Whoever knows it may be owner. */
  readonly token: string;
  readonly socket: string;
  /** Without an owner for so long, everything is ended. */
  readonly unownedMilliseconds: number;
  /** From asking the tree to end to leaving it no choice. */
  readonly graceMilliseconds: number;
}

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

export interface CommandEnd {
  /** `unowned`: no window had it any more. */
  readonly cause: 'exited' | 'stopped' | 'unowned' | 'not_started';
  readonly code: number | null;
  readonly signal: string | null;
  /** Who or what stopped it; why it could not be started. */
  readonly reason?: string;
  /** Processes that it had left running were ended with it. */
  readonly left?: true;
  /** Processes that it had started and that left its group: they run on. Where that cannot be known there are none. */
  readonly survivors?: readonly Survivor[];
  /** Why not all of its output was kept. */
  readonly outputProblem?: string;
  /** RFC 3339. */
  readonly at: string;
  readonly milliseconds: number;
}

/** Written by the supervisor, whole and durably, whenever it changes. */
export interface SupervisorState {
  readonly supervisor: ProcessIdentity;
  /** The command itself; absent if it could not be started. */
  readonly process?: ProcessIdentity;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly inputOpen: boolean;
  readonly end?: CommandEnd;
  /** Rises with every state that is written: of two files the newer one counts. */
  readonly revision?: number;
}

export type ToSupervisor =
  | { readonly type: 'hello'; readonly token: string }
  | { readonly type: 'input'; readonly id: number; readonly text: string; readonly last: boolean }
  | { readonly type: 'stop'; readonly reason: string }
  | { readonly type: 'interrupt' };

export type FromSupervisor =
  | { readonly type: 'state'; readonly state: SupervisorState; readonly size: number; readonly kept: number }
  | { readonly type: 'output'; readonly size: number; readonly kept: number }
  | { readonly type: 'input_taken'; readonly id: number; readonly problem?: string };

/** The variable that carries what is meant for the user's Node past ours. */
export const OWN_NODE_OPTIONS = 'EARSHOT_NODE_OPTIONS';

/** The command's own mark. Who reads it learns nothing of the token. */
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

/** Undefined if it is not there or not what we write. */
export async function readSpec(folder: string): Promise<SupervisorSpec | undefined> {
  const value = await readJson(folder, specFile);
  const good =
    hasTexts(value, ['command', 'folder', 'token', 'socket']) &&
    hasNumbers(value, ['unownedMilliseconds', 'graceMilliseconds']) &&
    typeof value['input'] === 'boolean' &&
    hasTexts(value['shell'], ['path']) &&
    Array.isArray(value['shell']['args']);
  return good ? (value as unknown as SupervisorSpec) : undefined;
}

/** The newest that was written, wherever there was room for it. */
export async function readState(folder: string): Promise<SupervisorState | undefined> {
  const [whole, reserved] = await Promise.all(
    [stateFile, reserveFile].map(async (name) => toState(await readJson(folder, name))),
  );
  return (reserved?.revision ?? 0) > (whole?.revision ?? 0) ? reserved : whole;
}

const reserveFile = 'reserve.json';
const RESERVED_BYTES = 8 * 1024;
/** Of what others said, in a state that must fit. */
const LONGEST_TEXT = 500;

/**
 * Keeps a supervisor's state on disk, also on one that is full: bytes are reserved before the command starts, and a state
 * for which there is no room elsewhere is written over them.
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

  /** Before the command: what cannot be told must not begin. */
  async reserve(): Promise<void> {
    await this.#files.writeWhole(join(this.#folder, reserveFile), Buffer.alloc(RESERVED_BYTES, ' '));
    this.#reserve = await open(join(this.#folder, reserveFile), 'r+');
  }

  /** Rejects if it is on disk nowhere. */
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

/** A line of the other side; undefined for what cannot be understood. */
export function readMessage(line: string): FromSupervisor | undefined {
  const value = parse(line);
  if (!isRecord(value)) return undefined;
  if (value['type'] === 'input_taken' && hasNumbers(value, ['id'])) return value as unknown as FromSupervisor;
  if (!hasNumbers(value, ['size', 'kept'])) return undefined;
  if (value['type'] === 'output') return value as unknown as FromSupervisor;
  const known = value['type'] === 'state' && toState(value['state']) !== undefined;
  return known ? (value as unknown as FromSupervisor) : undefined;
}

export function readRequest(line: string): ToSupervisor | undefined {
  const value = parse(line);
  if (!isRecord(value)) return undefined;
  switch (value['type']) {
    case 'hello':
      return hasTexts(value, ['token']) ? (value as unknown as ToSupervisor) : undefined;
    case 'input': {
      const good = hasNumbers(value, ['id']) && hasTexts(value, ['text']) && typeof value['last'] === 'boolean';
      return good ? (value as unknown as ToSupervisor) : undefined;
    }
    case 'stop':
      return hasTexts(value, ['reason']) ? (value as unknown as ToSupervisor) : undefined;
    case 'interrupt':
      return { type: 'interrupt' };
    default:
      return undefined;
  }
}

function toState(value: unknown): SupervisorState | undefined {
  if (!hasTexts(value, ['startedAt']) || !isIdentity(value['supervisor'])) return undefined;
  if (value['process'] !== undefined && !isIdentity(value['process'])) return undefined;
  const { end } = value;
  if (end !== undefined && !(hasTexts(end, ['cause', 'at']) && hasNumbers(end, ['milliseconds']))) return undefined;
  return value as unknown as SupervisorState;
}

function isIdentity(value: unknown): boolean {
  return hasTexts(value, ['startTime']) && hasNumbers(value, ['pid']);
}

async function readJson(folder: string, name: string): Promise<unknown> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '');
  return parse(text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function hasTexts(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  return isRecord(value) && names.every((name) => typeof value[name] === 'string');
}

function hasNumbers(value: unknown, names: readonly string[]): value is Record<string, unknown> {
  return isRecord(value) && names.every((name) => Number.isFinite(value[name]));
}
