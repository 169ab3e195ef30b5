// The editor's files, as far as the core needs them. Implemented in vscode/.
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';

export interface FilePath {
  /** As people and models write it: relative to the workspace, with `/` between the parts. */
  readonly path: string;
  /** An absolute path in the operating system's format. */
  readonly absolute: string;
  /** The file that a link in the path leads to, in the same form as `path`; absent if there is no link. */
  readonly real?: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** The bytes come from an editor buffer with unsaved changes. */
  readonly unsaved: boolean;
  /**
   * With `part`: the size of the whole file, what distinguishes it from another one of the same name, and when it was
   * written last and made, in milliseconds since 1970; not every file system knows when a file was made.
   */
  readonly size?: number;
  readonly identity?: string;
  readonly modified?: number;
  readonly born?: number;
}

/**
 * One change of one file. `from` is the expected content: if the file, or the editor's buffer of it, has other bytes,
 * nothing is changed. One set of edits may write a file and then move it; otherwise it names each file once.
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
  /** The permission bits of a file that was deleted or moved away, so that undo can restore them. */
  readonly beforeMode?: number;
  /** The bytes after the save, with what formatters did; absent: there is no such file any more. */
  readonly after?: Uint8Array;
  /** The file had unsaved changes in the editor, so it was edited there and not saved. */
  readonly unsaved: boolean;
}

export interface ApplyOptions {
  /** False: files that are edited through a buffer stay unsaved. */
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

/** Where a path really leads, resolved in the same step in which the file is read. */
export interface FilePlace {
  /** As written; relative to the workspace if it is inside. */
  readonly path: string;
  /** Where a link leads to inside the workspace; absent if none does. */
  readonly real?: string;
  readonly outside: boolean;
}

/** Returns why a file must not be read; undefined: it may be read. */
export type PlaceJudge = (place: FilePlace) => Failure | undefined | Promise<Failure | undefined>;

interface ReadOptions {
  /** In bytes; a longer file is refused. Absent: the most that the editor can hold. */
  readonly atMost?: number;
  /** Only these bytes of the file on disk, however large it is. A file that is not on a disk is refused. */
  readonly part?: { readonly from: number; readonly length: number };
}

/** The files that .earshotignore hides from the model. */
export interface HiddenFiles {
  /** Why its rules cannot be read; every file is hidden then. */
  readonly fault?: string;
  /** `path` as in FilePath. */
  hides(path: string): boolean;
}

/** The files that a person allowed one call to open. */
export interface Consent {
  /** Paths outside the workspace, as the call names them. */
  readonly letIn: ReadonlySet<string>;
  /** Names of protected and hidden files and folders, and the targets of their links at the time of the approval. */
  readonly names: readonly string[];
  readonly hidden: HiddenFiles;
}

/**
 * The editor's files without any checks. Only the door (core/consent/door.ts) reads through it; everybody else gets a
 * Workspace, which the door creates from it.
 */
export interface WorkspaceDisk extends Omit<Workspace, GuardedMethod> {
  /**
   * In one step, resolves the path, asks the judge, and reads exactly that file. Refuses files that are not regular or
   * too big. A buffer with unsaved changes takes precedence over the disk and is judged in the same way.
   */
  readJudged(file: FilePath, judge: PlaceJudge, options?: ReadOptions): Promise<Result<FileContent>>;
  /** Where the path leads now, also if nothing exists there. */
  locate(file: FilePath): Promise<Result<FilePlace>>;
  listUnjudged(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
}

type GuardedMethod = 'read' | 'readLocally' | 'fingerprint' | 'mayShow' | 'list' | 'admitting';

/** The editor's files, behind the door. Methods fail with a message that the model can act on. */
export interface Workspace {
  /** Empty: no folder is open. */
  readonly folders: readonly FilePath[];
  readonly trusted: boolean;
  /**
   * Refuses paths outside the folders, including those that lead there by `..` or a link, with the code `outside`. Set
   * `anywhere` only if a person has consented to exactly this path.
   */
  resolve(path: string, options?: { readonly anywhere?: boolean }): Promise<Result<FilePath>>;
  /**
   * For content that may reach the model. Refuses files that are or lead outside the workspace (`outside`), that are
   * protected (`protected`) or named by .earshotignore (`hidden`), by their own name or by a link's target; also what
   * is not a regular file (`not_regular`, `is_folder`) or too big (`too_big`).
   */
  read(file: FilePath, options?: ReadOptions): Promise<Result<FileContent>>;
  /**
   * For content that stays on this machine, such as for undo: it is never shown to the model. Also reads protected and
   * hidden files.
   */
  readLocally(file: FilePath, options?: ReadOptions): Promise<Result<FileContent>>;
  /** Distinguishes two states of a file that may not be shown. Refuses what `readLocally` refuses. */
  fingerprint(file: FilePath, by: { hash(bytes: Uint8Array): string }): Promise<Result<string>>;
  /** Files with unsaved changes in an editor buffer. */
  unsaved(): readonly FilePath[];
  /** Whether texts about the file may quote it: false if `read` would refuse it for its name or for where it leads. */
  mayShow(file: FilePath): Promise<boolean>;
  /** Refuses folders that are or lead outside the workspace. */
  list(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
  /** The same files for one call that a person allowed to open more. Only core/tools/run.ts uses it. */
  admitting(consent: Consent): Workspace;
  /** The text of these bytes in the encoding that the editor has for the file; undefined if they are not text. */
  decode(file: FilePath, bytes: Uint8Array): Promise<string | undefined>;
  /**
   * The bytes of a text in the encoding of `like`, which are bytes of this file; without it, in the encoding of new
   * files. Undefined if that encoding lacks a character of the text.
   */
  encode(file: FilePath, text: string, like?: Uint8Array): Promise<Uint8Array | undefined>;
  /**
   * Applies all edits or none, through the editor, so that undo works. Saves files that had no unsaved changes. A move
   * has two results: for the old name and for the new one. Fails with the code `stale` and the file's name if a file
   * has other bytes than the edit expects.
   */
  apply(edits: readonly FileEdit[], options?: ApplyOptions): Promise<Result<readonly AppliedEdit[]>>;
}

/** The disk below the editor's buffers, and what reaches it from them. */
export interface Buffers {
  /** The bytes on disk, whatever the buffer has. Undefined if there is no such file. */
  readBeneath(file: FilePath): Promise<Uint8Array | undefined>;
  /**
   * Writes to the disk only: the buffer keeps its unsaved changes. Fails with the code `stale` if the disk has other
   * bytes than `from`.
   */
  writeBeneath(file: FilePath, from: Uint8Array | undefined, to: Uint8Array | undefined): Promise<Result<void>>;
  readonly onDidSave: Event<{ readonly file: FilePath; readonly bytes: Uint8Array }>;
}

/** The entry at a path itself, without following links: the bytes of a link are its target. */
export interface DiskEntry {
  readonly bytes: Uint8Array;
  readonly kind: 'plain' | 'executable' | 'link';
  /** The permission bits of a file. In `replace`, absent: as the kind and the present file have them. */
  readonly mode?: number;
}

/** What is at a path, without following links. */
export interface EntryInfo {
  /** `nothing` is also what cannot be looked at. */
  readonly kind: DiskEntry['kind'] | 'folder' | 'other' | 'nothing';
  readonly mode?: number;
  /** A link or a file is in the place of a folder above it. */
  readonly behind: boolean;
}

/**
 * The workspace's part of the disk below the editor, for entries that the editor cannot represent. `path` as in
 * FilePath.
 */
export interface DiskEntries {
  /** Its name is not valid text, so the editor cannot represent it. */
  isOdd(path: string): boolean;
  infoOf(path: string): Promise<EntryInfo>;
  /** Undefined: nothing is there. `other`: a folder or similar. */
  look(path: string): Promise<Result<DiskEntry | 'other' | undefined>>;
  /**
   * Fails with the code `stale` if the path has anything but `from`; permissions are not compared. `folder`: a folder
   * without files, which is removed.
   */
  replace(path: string, from: DiskEntry | 'folder' | undefined, to: DiskEntry | undefined): Promise<Result<void>>;
}
