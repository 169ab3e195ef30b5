// Remembers which problems of the configuration were reported: it is read again after every change of a file or a setting.

export class ReportedProblems {
  #known: ReadonlySet<string> = new Set();

  /** Those that the last reading did not have. One that was solved and is back is reported again. */
  take(problems: readonly string[]): readonly string[] {
    const now = new Set(problems);
    const fresh = [...now].filter((problem) => !this.#known.has(problem));
    this.#known = now;
    return fresh;
  }
}
