// What a plan of the Guide is made of: goals that decide, by what their steps brought so far, which tool to call next.

export interface Step {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A step with what came of it. */
export interface Taken {
  readonly step: Step;
  readonly result: string;
  readonly failed: boolean;
}

export type Decision =
  /** `report` is about what was taken last, `say` about what comes. */
  | { readonly type: 'call'; readonly step: Step; readonly say: string; readonly report?: string }
  | { readonly type: 'done'; readonly report: string };

/** Pure: what was taken is all it knows, so that the same log gives the same plan. */
export type Goal = (taken: readonly Taken[]) => Decision;

/** One call, and a word on what came of it. */
export function single(step: Step, say: string, report: (result: string, failed: boolean) => string): Goal {
  return ([taken]) =>
    taken === undefined ? { type: 'call', step, say } : { type: 'done', report: report(taken.result, taken.failed) };
}

/** Arguments are what the Guide itself wrote; anything but a text is none. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
