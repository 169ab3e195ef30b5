// The problems of an editor that a test opens, closes and checks documents in.
import { type Clock } from '../../../src/base/clock.ts';
import { Emitter } from '../../../src/base/emitter.ts';
import {
  type Problem,
  type ProblemFacts,
  type Problems,
  type ProblemsChange,
} from '../../../src/core/ports/problems.ts';
import { type FilePath } from '../../../src/core/ports/workspace.ts';
import { createProblemFacts } from '../../../src/producers/diagnostics/problemFacts.ts';
import { atTestEnd } from '../endings.ts';
import { silentLogger } from '../log/memoryStorage.ts';

export class EditorProblems implements Problems {
  readonly #found = new Map<string, readonly Problem[]>();
  readonly #open = new Set<string>();
  readonly #changed = new Emitter<ProblemsChange>(() => undefined);
  /** Files that had to be opened so that a server checks them. */
  readonly looked: string[] = [];

  get onDidChange(): Emitter<ProblemsChange>['event'] {
    return this.#changed.event;
  }

  all() {
    return [...this.#found.keys()].map((path) => this.of(fileOf(path))).filter(({ problems }) => problems.length > 0);
  }

  of(file: FilePath) {
    return { file, open: this.#open.has(file.path), problems: this.#found.get(file.path) ?? [] };
  }

  opened(): readonly FilePath[] {
    return [...this.#open].map(fileOf);
  }

  keepOpen(): void {}

  open(path: string): void {
    this.#open.add(path);
    this.#changed.fire({ type: 'opened', files: [fileOf(path)] });
  }

  /** As servers do that check only open documents: its problems vanish. */
  close(path: string): void {
    this.#open.delete(path);
    this.#changed.fire({ type: 'closed', files: [fileOf(path)] });
    this.report(path);
  }

  /** A server has checked the document. */
  report(path: string, ...severities: readonly Problem['severity'][]): void {
    const problems = severities.map((severity, line) => ({ severity, line, column: 1, message: 'Tea is cold.' }));
    this.#found.set(path, problems);
    this.#changed.fire({ type: 'reported', files: [fileOf(path)] });
  }

  /** What a window that has just started knows about them. */
  facts(clock: Clock): ProblemFacts {
    const facts = createProblemFacts({
      ...{ clock, logger: silentLogger, problems: this },
      workspace: { resolve: async (path) => ({ ok: true, value: fileOf(path) }) },
      reported: { look: async ({ path }) => void this.looked.push(path) },
    });
    atTestEnd(async () => facts.dispose());
    return facts;
  }
}

function fileOf(path: string): FilePath {
  return { path, absolute: `/shop/${path}` };
}
