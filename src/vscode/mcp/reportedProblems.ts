// Remembers reported problems of the configuration, which is read again after every change of a file or a setting.

export class ReportedProblems {
  #known: ReadonlySet<string> = new Set();

  /**
   * Returns the problems that the previous call did not contain. One that was solved and occurs again is returned
   * again.
   */
  take(problems: readonly string[]): readonly string[] {
    const now = new Set(problems);
    const fresh = [...now].filter((problem) => !this.#known.has(problem));
    this.#known = now;
    return fresh;
  }
}
