// What the model is told of a tool, and what a tool may do.

/** `read` looks, `edit` changes files of the workspace, `execute` runs programs: what approval modes speak of. */
export type Effect = 'read' | 'edit' | 'execute';

export interface ToolDescription {
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
