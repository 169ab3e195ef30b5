// How a command ended.

export interface CommandEnd {
  /** `unowned`: it was stopped because no window owned it any more. */
  readonly cause: 'exited' | 'stopped' | 'unowned' | 'not_started';
  readonly code: number | null;
  readonly signal: string | null;
  /** Who or what stopped it, or why it could not be started. */
  readonly reason?: string;
  /** The command left processes running, and they were ended too. */
  readonly left?: true;
  /** Processes that it started outside its process group and that still run; absent where this cannot be determined. */
  readonly survivors?: readonly Survivor[];
  /** Why its output was not kept completely. */
  readonly outputProblem?: string;
  /** RFC 3339. */
  readonly at: string;
  readonly milliseconds: number;
}

export interface Survivor {
  readonly pid: number;
  readonly name: string;
}
