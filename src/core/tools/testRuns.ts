// Compares a run of tests with the one before it.

/** The results by name; undefined: the test passed or was skipped. */
export type TestRun = ReadonlyMap<string, string | undefined>;

export interface TestResult {
  readonly name: string;
  /** What was said about a failure; absent: it did not fail. */
  readonly failure?: string;
}

export interface TestChanges {
  readonly total: number;
  /** Tests that fail and did not fail before. */
  readonly broken: readonly TestResult[];
  /** Names of tests that failed before and pass now. */
  readonly fixed: readonly string[];
  /** Names of tests that failed before too. */
  readonly stillFailing: readonly string[];
}

/** Without an earlier run every failure counts as new. */
export function compareRuns(earlier: TestRun | undefined, now: TestRun): TestChanges {
  const [broken, fixed, stillFailing]: [TestResult[], string[], string[]] = [[], [], []];
  for (const [name, failure] of now) {
    const failedBefore = earlier?.get(name) !== undefined;
    if (failure === undefined && failedBefore) fixed.push(name);
    if (failure !== undefined && failedBefore) stillFailing.push(name);
    if (failure !== undefined && !failedBefore) broken.push({ name, failure });
  }
  return { total: now.size, broken, fixed, stillFailing };
}
