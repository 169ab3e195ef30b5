// What the editor reports to producers, as plain data. Implemented in vscode/sources/.
import { type Event } from '../../base/emitter.ts';

/** Paths here are as in FilePath: relative to the workspace. */
export interface FileTouch {
  readonly type: 'created' | 'changed' | 'deleted';
  readonly path: string;
}

/** The editor's own watcher, in another process. It leaves out what `files.watcherExclude` names. */
export interface EditorFiles {
  readonly onDidTouch: Event<FileTouch>;
}

export interface Renamed {
  readonly from: string;
  readonly to: string;
}

export interface SavedFile {
  readonly path: string;
  /** The bytes that the save wrote. */
  readonly bytes: Promise<Uint8Array>;
  /** Earshot saved it, for a call of a conversation or an undo. */
  readonly own: boolean;
  /** It contains code from the chat that the user has applied since the last save. */
  readonly applied?: boolean;
}

/** What a person does with files in the editor, and what the editor does for them. */
export interface EditorBuffers {
  /** Files with unsaved changes. */
  unsaved(): readonly string[];
  /** Fires with the path of a file whose buffer was changed, saved, reverted or closed. */
  readonly onDidChange: Event<string>;
  readonly onDidSave: Event<SavedFile>;
  readonly onDidRename: Event<readonly Renamed[]>;
}

/** What is selected in an editor. */
interface EditorSelection {
  /** From 1. */
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

/** Where the user is: an editor with a file of the workspace. */
export interface FocusedEditor {
  readonly path: string;
  /** Absent: nothing is selected. */
  readonly selection?: EditorSelection;
}

export interface ActiveEditor {
  /** Undefined: there is none, or it shows something else. */
  current(): FocusedEditor | undefined;
  /** Fires when the editor or its selection has changed. */
  readonly onDidChange: Event<void>;
}

export interface EndedCommand {
  readonly terminal: string;
  readonly commandLine: string;
  /** Undefined: the shell did not report it. */
  readonly exitCode: number | undefined;
  /** The absolute path of the folder it ran in; undefined: the shell did not report it. */
  readonly folder: string | undefined;
  /** The end of its output, including terminal control sequences. */
  readonly output: string;
}

/** Terminals whose shell reports where a command begins and ends. What is typed into them is never read. */
export interface Terminals {
  readonly onDidEnd: Event<EndedCommand>;
}

/** A cell of a notebook was run. */
export interface CellRun {
  readonly path: string;
  /** From 1. */
  readonly cell: number;
  /** Absent: it succeeded. */
  readonly error?: { readonly name: string; readonly message: string };
}

export interface NotebookRuns {
  readonly onDidRun: Event<CellRun>;
}

/** A session of the editor's debugger. Some debuggers start further sessions for the processes of a program. */
export interface DebugSession {
  readonly id: string;
  /** What the user started: the session itself, or the one from which it was started. */
  readonly root: { readonly id: string; readonly name: string };
  /** The kind of debugger, such as `pwa-node`. */
  readonly type: string;
  /** The absolute path of a file that an answer names; in a remote window the editor replaces it by an address. */
  absolute(path: string): string;
  /** Sends a request of the Debug Adapter Protocol. Rejects if the debugger refuses it. */
  request(command: string, args: Readonly<Record<string, unknown>>): Promise<unknown>;
}

export interface DebugMessage {
  readonly session: DebugSession;
  /** `ended`: the session is over. */
  readonly type: 'from_debugger' | 'to_debugger' | 'ended';
  /** A message of the Debug Adapter Protocol, as it was sent. */
  readonly message?: unknown;
}

export interface Debugger {
  /** Fires for sessions that began after the first listener was added. */
  readonly onDidMessage: Event<DebugMessage>;
}
