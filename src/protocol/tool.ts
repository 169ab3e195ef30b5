// The description of a tool for the model, and its effect.

/** `read` changes nothing, `edit` changes files of the workspace, `execute` runs programs. Approval modes refer to it. */
export type Effect = 'read' | 'edit' | 'execute';

export interface ToolDescription {
  readonly name: string;
  /** Written for a model. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}
