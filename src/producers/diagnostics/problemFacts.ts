// Tells conditions what is known about problems: whether there are none, or no server has reported yet.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { printPath } from '../../base/printPath.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import {
  type FoundProblems,
  type ProblemFacts,
  type Problems,
  type ReportedProblems,
} from '../../core/ports/problems.ts';
import { type FilePath, type Workspace } from '../../core/ports/workspace.ts';
import { ObservedProblems } from './observedProblems.ts';

export interface ProblemFactsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly problems: Problems;
  readonly workspace: Pick<Workspace, 'resolve'>;
  /** Opens files, so that servers check them. */
  readonly reported: Pick<ReportedProblems, 'look'>;
}

/** Create it when the window starts: what was reported before is not known. */
export function createProblemFacts(deps: ProblemFactsDeps): ProblemFacts & Disposable {
  return new ObservedFacts(deps);
}

class ObservedFacts implements ProblemFacts, Disposable {
  readonly #deps: ProblemFactsDeps;
  readonly #held = new DisposableStore();
  readonly #observed: ObservedProblems;
  readonly #onDidChange: Emitter<readonly FilePath[]>;
  /** Those that have or had problems, or were reported on. */
  readonly #files = new Map<string, FilePath>();
  readonly #ended = new AbortController();

  constructor(deps: ProblemFactsDeps) {
    this.#deps = deps;
    this.#onDidChange = this.#held.add(new Emitter((error) => deps.logger.error('a listener failed', error)));
    for (const { file } of deps.problems.all()) this.#files.set(file.path, file);
    const quiet = (files: readonly FilePath[]) => {
      for (const file of files) this.#observed.observe(file);
      this.#onDidChange.fire(files);
    };
    this.#observed = this.#held.add(new ObservedProblems(deps, { quiet, changing: () => undefined }));
    this.#held.add(
      deps.problems.onDidChange(({ type, files }) => {
        if (type === 'changed') return;
        for (const file of files) this.#files.set(file.path, file);
        this.#onDidChange.fire(files);
      }),
    );
  }

  get onDidChange(): Emitter<readonly FilePath[]>['event'] {
    return this.#onDidChange.event;
  }

  concerned(isMeant: (path: string) => boolean): readonly string[] {
    const faulty = [...this.#observed.all].flatMap(([path, { length }]) => (length > 0 && isMeant(path) ? [path] : []));
    return [...new Set([...faulty, ...this.#checked(isMeant)])];
  }

  async find(isMeant: (path: string) => boolean, before: readonly string[]): Promise<FoundProblems> {
    const files = new Map([...this.#files].filter(([path]) => isMeant(path)));
    const unchecked: string[] = [];
    for (const path of before) {
      if (this.#observed.hasReported(path)) continue;
      const place = await this.#deps.workspace.resolve(path);
      // A file that is gone has no problems.
      if (!place.ok) continue;
      files.set(path, place.value);
      unchecked.push(path);
      this.#look(place.value);
    }
    let count = 0;
    for (const file of files.values()) {
      const { problems } = this.#observed.observe(file);
      count += problems.filter(({ severity }) => severity !== 'info').length;
      if (!this.#observed.isDoubtful(file.path)) continue;
      unchecked.push(file.path);
      this.#look(file);
    }
    return { ...this.#whyUnknown(unchecked, this.#checked(isMeant).length > 0), count };
  }

  dispose(): void {
    this.#ended.abort();
    this.#held.dispose();
  }

  #whyUnknown([path]: readonly string[], isAnyChecked: boolean): Omit<FoundProblems, 'count'> {
    const { warmingFor } = this.#observed;
    if (warmingFor > 0) return { unknown: 'the language servers may still be starting', again: warmingFor };
    if (path !== undefined) return { unknown: `no language server has checked ${printPath(path)} again yet` };
    return isAnyChecked ? {} : { unknown: 'no language server has reported on such a file yet' };
  }

  /** Open documents count too: a server that finds nothing may say nothing. */
  #checked(isMeant: (path: string) => boolean): readonly string[] {
    const open = this.#deps.problems.opened().map(({ path }) => path);
    const reported = [...this.#files.keys()].filter((path) => this.#observed.hasReported(path));
    return [...new Set([...reported, ...open])].filter(isMeant);
  }

  #look(file: FilePath): void {
    const report = (error: unknown) => this.#deps.logger.error('a file could not be checked', error);
    void this.#deps.reported.look(file, this.#ended.signal).catch(report);
  }
}
