// What the core needs of the editor's files. Implemented in vscode/.
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';

export interface FilePath {
  /** As people and models write it: relative to the workspace, with `/` between the parts. */
  readonly path: string;
  /** As the machine says it. */
  readonly absolute: string;
  /** The file that a link in the path leads to, in the same form as `path`; absent if there is no link. */
  readonly real?: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** The bytes are those of an editor's buffer with changes that are not saved. */
  readonly unsaved: boolean;
}

/**
 * One change of one file. `from` is what it starts from: where the file, or the editor's buffer of it, has other bytes by
 * now, nothing changes. A file may be written and then moved in one go; otherwise each is named once.
 */
export type FileEdit =
  /** Without `from` the file must not exist. */
  | { readonly type: 'write'; readonly file: FilePath; readonly from?: Uint8Array; readonly to: Uint8Array }
  /** There must be nothing at `to`. */
  | { readonly type: 'move'; readonly file: FilePath; readonly to: FilePath; readonly from: Uint8Array }
  /** Into the trash where the machine has one. */
  | { readonly type: 'delete'; readonly file: FilePath; readonly from: Uint8Array };

export interface AppliedEdit {
  readonly file: FilePath;
  /** Absent: there was no such file. */
  readonly before?: Uint8Array;
  /** The bytes after the save, with what formatters did; absent: there is no such file any more. */
  readonly after?: Uint8Array;
  /** The file had unsaved changes in the editor, so it was edited there and not saved. */
  readonly unsaved: boolean;
}

export interface ApplyOptions {
  /** False: what has to go through a buffer stays unsaved there. */
  readonly save?: boolean;
  /** The file gets exactly these bytes, without formatters. For restoring an earlier state. */
  readonly exact?: boolean;
}

/** Failure codes of `apply` that callers distinguish. */
export const STALE = 'stale';
export const EXISTS = 'exists';
export const NOT_FOUND = 'not_found';

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** Where a name really leads, found in the same step as the file is read. */
export interface FilePlace {
  /** As written; relative to the workspace if it is in it. */
  readonly path: string;
  /** Where a link leads to inside the workspace; absent if none does. */
  readonly real?: string;
  readonly outside: boolean;
}

/** Why a file is not read; undefined: it is. */
export type PlaceJudge = (place: FilePlace) => Failure | undefined | Promise<Failure | undefined>;

interface ReadOptions {
  /** Bytes; a longer file is refused. Absent: what the editor can hold. */
  readonly atMost?: number;
}

/** What .earshotignore keeps from the model. */
export interface HiddenFiles {
  /** Why its rules cannot be read, so that everything is hidden. */
  readonly fault?: string;
  /** `path` as in FilePath. */
  hides(path: string): boolean;
}

/** What a person allowed one call to open. */
export interface Consent {
  /** Paths outside the workspace, as the call names them. */
  readonly letIn: ReadonlySet<string>;
  /** Names of protected and hidden files and folders, with where their links led when the person was asked. */
  readonly names: readonly string[];
  readonly hidden: HiddenFiles;
}

/**
 * The editor's files as they are. Only the door (core/consent/door.ts) reads through it; everybody else gets a Workspace,
 * which the door makes of it.
 */
export interface WorkspaceDisk extends Omit<Workspace, GuardedMethod> {
  /**
   * One step: finds where the name leads, asks, and reads just that file. Refuses what is not a regular file or too big. A
   * buffer with unsaved changes comes before the disk, and is judged like it.
   */
  readJudged(file: FilePath, judge: PlaceJudge, options?: ReadOptions): Promise<Result<FileContent>>;
  /** Where the name leads now, also of what is not there. */
  locate(file: FilePath): Promise<Result<FilePlace>>;
  listUnjudged(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
}

type GuardedMethod = 'read' | 'readLocally' | 'fingerprint' | 'mayShow' | 'list' | 'admitting';

/** The editor's files, behind the door. Fails with a message the model can act on. */
export interface Workspace {
  /** Empty: no folder is open. */
  readonly folders: readonly FilePath[];
  readonly trusted: boolean;
  /**
   * Refuses what lies outside the folders, also by `..` or through a link, with the code `outside`. `anywhere` is given
   * only where a person has consented to this very path.
   */
  resolve(path: string, options?: { readonly anywhere?: boolean }): Promise<Result<FilePath>>;
  /**
   * For the model: what is read may reach the endpoint. Refuses what lies or leads outside the workspace (`outside`), is
   * protected (`protected`) or named by .earshotignore (`hidden`), by its own name or by where a link leads; what is not a
   * regular file (`not_regular`, `is_folder`) or too big (`too_big`).
   */
  read(file: FilePath, options?: ReadOptions): Promise<Result<FileContent>>;
  /** For this machine only, such as undo: the model is never shown it. Protected and hidden files are read too. */
  readLocally(file: FilePath, options?: ReadOptions): Promise<Result<FileContent>>;
  /** Distinguishes two states of a file that may not be shown. Refuses what `readLocally` refuses. */
  fingerprint(file: FilePath, by: { hash(bytes: Uint8Array): string }): Promise<Result<string>>;
  /** Files with changes in an editor's buffer that are not saved. */
  unsaved(): readonly FilePath[];
  /** Whether `read` would refuse the file for what it is or where it leads: texts about it may quote it. */
  mayShow(file: FilePath): Promise<boolean>;
  /** Refuses what lies or leads outside. */
  list(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
  /** The same files for one call that a person allowed more. Only the life of a call (core/tools/run.ts) asks for it. */
  admitting(consent: Consent): Workspace;
  /** The text of bytes of this file, in the encoding that the editor has for it; undefined for what is no text. */
  decode(file: FilePath, bytes: Uint8Array): Promise<string | undefined>;
  /**
   * The bytes of a text in the encoding that `like`, bytes of this file, are in; without it, in the one that new files
   * have. Undefined if that encoding lacks a character of it.
   */
  encode(file: FilePath, text: string, like?: Uint8Array): Promise<Uint8Array | undefined>;
  /**
   * Applies edits through the editor, so that undo works; all or none. Saves files that had no unsaved changes. A move has
   * two results: the old name and the new one. Fails with the code `stale` and the file's name where it starts from other bytes.
   */
  apply(edits: readonly FileEdit[], options?: ApplyOptions): Promise<Result<readonly AppliedEdit[]>>;
}

/** The disk below the editor's buffers, and what reaches it from them. */
export interface Buffers {
  /** What is on disk, whatever the buffer has. Undefined if there is no such file. */
  readBeneath(file: FilePath): Promise<Uint8Array | undefined>;
  /** On disk only: the buffer keeps what is not saved. Fails with the code `stale` if the disk has other bytes than `from`. */
  writeBeneath(file: FilePath, from: Uint8Array | undefined, to: Uint8Array | undefined): Promise<Result<void>>;
  readonly onDidSave: Event<{ readonly file: FilePath; readonly bytes: Uint8Array }>;
}

/** What lies at a path itself, no link followed: a link's bytes are its target. */
export interface DiskEntry {
  readonly bytes: Uint8Array;
  readonly kind: 'plain' | 'executable' | 'link';
}

/** The workspace's part of the disk below the editor, for entries that the editor cannot represent. `path` as in FilePath. */
export interface DiskEntries {
  /** Its name is no text, so that only the disk knows it. */
  isOdd(path: string): boolean;
  /** Undefined: there is nothing, or something else. */
  kindOf(path: string): Promise<DiskEntry['kind'] | undefined>;
  /** Undefined: there is nothing. `other`: a folder or the like. */
  look(path: string): Promise<Result<DiskEntry | 'other' | undefined>>;
  /** Fails with the code `stale` where something else than `from` is. Whether that can be executed does not matter. */
  replace(path: string, from: DiskEntry | undefined, to: DiskEntry | undefined): Promise<Result<void>>;
}
