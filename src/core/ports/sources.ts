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
