// What a task of the editor would run, as its approval shows it.

/** What the command alone does not show. `setting`: a terminal setting of the workspace, which may choose the shell. */
export type TaskFact = 'detail' | 'shell' | 'cwd' | 'environment' | 'setting' | 'input' | 'editor_command' | 'missing';

export interface TaskView {
  readonly name: string;
  readonly folder?: string;
  /** Absent: it only runs other tasks (`before`), or it is not known. */
  readonly command?: string;
  /** Set if nobody but an extension knows what it runs. */
  readonly unknown?: true;
  readonly facts: readonly { readonly fact: TaskFact; readonly text: string }[];
  /** The tasks that it depends on. */
  readonly before: readonly TaskView[];
}
