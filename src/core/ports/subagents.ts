// Subagents as the tool that starts them sees them.
import { type Disposable } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { type SupervisedCommand } from './processes.ts';

export interface SubagentRequest {
  /** The conversation that starts it. */
  readonly parent: string;
  readonly task: string;
  readonly name: string;
  /** The only tools that it gets; absent: those of its parent. */
  readonly tools?: readonly string[] | undefined;
  /** Absent: the model of the window. */
  readonly model?: string | undefined;
}

/** Disposing of it without `begin` gives its place to another. */
export interface PreparedSubagent extends Disposable {
  readonly process: SupervisedCommand;
  /** Gives it its task. Afterwards it runs until its turn has ended. */
  begin(): Promise<void>;
}

export interface SubagentStarter {
  /** Why no subagent can be started like this; undefined: it can. */
  whyNot(request: SubagentRequest): string | undefined;
  /** Creates its conversation, which does nothing yet: its handle must be on disk first. */
  prepare(request: SubagentRequest): Promise<Result<PreparedSubagent>>;
}
