// Plans of the Guide: goals that choose the next tool call from the results so far.

export interface Step {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A step with its result. */
export interface Taken {
  readonly step: Step;
  readonly result: string;
  readonly failed: boolean;
  /** The block of notifications that was delivered with the result. */
  readonly block?: string | undefined;
}

export type Decision =
  /** `report` describes the last result, `say` the next call. */
  | { readonly type: 'call'; readonly step: Step; readonly say: string; readonly report?: string }
  | { readonly type: 'done'; readonly report: string };

/** Pure: depends only on the steps taken, so that the same log gives the same plan. */
export type Goal = (taken: readonly Taken[]) => Decision;

/** One call and a report of its result. */
export function single(step: Step, say: string, report: (result: string, failed: boolean) => string): Goal {
  return ([taken]) =>
    taken === undefined ? { type: 'call', step, say } : { type: 'done', report: report(taken.result, taken.failed) };
}

/** Reads an argument of one of the Guide's own calls; anything but a string counts as empty. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
