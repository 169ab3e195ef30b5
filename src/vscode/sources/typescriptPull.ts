// Requests diagnostics from the TypeScript server for documents that no tab shows, which it checks only on request.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { realClock } from '../../node/realClock.ts';

const LANGUAGES: ReadonlySet<string> = new Set(['typescript', 'typescriptreact', 'javascript', 'javascriptreact']);
const REQUESTS = ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'] as const;
const AFTER_MILLISECONDS = 150;
/** The server notices changes on disk with a delay, so it is asked several times, at these intervals. */
const AGAIN_MILLISECONDS = [1000, 1500, 2500] as const;
/** If the server has not checked a document yet, it is asked again with back-off. */
const FIRST_RETRY_MILLISECONDS = 500;
const LAST_RETRY_MILLISECONDS = 15_000;
/** The answer if VS Code's TypeScript server is missing or another one is used. */
const NO_SERVER = 'none';

interface Answer {
  readonly body?: readonly {
    readonly start: { readonly line: number; readonly offset: number };
    readonly text: string;
    readonly code?: number;
    readonly category: string;
    readonly source?: string;
  }[];
}

export class TypescriptPull implements Disposable {
  readonly #log: Logger;
  readonly #answered: (uri: vscode.Uri) => void;
  readonly #problems = new Map<string, readonly Problem[]>();
  #timer: Disposable | undefined;
  /** Increased to mark running requests as outdated. */
  #round = 0;
  #wanted: readonly vscode.Uri[] = [];
  /** Documents that the server has answered for since they were opened. */
  readonly #answeredFor = new Set<string>();
  #hasServer = true;
  /** How many more requests follow from a change on disk. */
  #again = 0;
  #asking = false;
  #retry = FIRST_RETRY_MILLISECONDS;

  /** `answered` is called for each document that was asked for, whether its problems changed or not. */
  constructor(logger: Logger, answered: (uri: vscode.Uri) => void) {
    this.#log = logger;
    this.#answered = answered;
  }

  /** Undefined if the server was not asked about the document, or a tab shows it. */
  of(uri: vscode.Uri): readonly Problem[] | undefined {
    return isInTab(uri) ? undefined : this.#problems.get(uri.toString());
  }

  /** Whether the server has checked the document, also if it found nothing. */
  hasChecked(uri: vscode.Uri): boolean {
    const address = uri.toString();
    if (!isInTab(uri)) return this.#problems.has(address);
    return this.#answeredFor.has(address) || !this.#hasServer || !this.#isWanted(uri);
  }

  closed(uri: vscode.Uri): void {
    this.#answeredFor.delete(uri.toString());
    this.#problems.delete(uri.toString());
  }

  /** Call when files that the documents may depend on have changed on disk. */
  touched(): void {
    this.#again = AGAIN_MILLISECONDS.length;
    if (this.#timer === undefined && !this.#asking) this.#schedule(AFTER_MILLISECONDS);
  }

  want(uris: readonly vscode.Uri[]): void {
    this.#wanted = uris;
    const kept = new Set(uris.map((uri) => uri.toString()));
    for (const address of this.#problems.keys()) if (!kept.has(address)) this.#problems.delete(address);
    this.soon();
  }

  /** Call after any change: problems of one document depend on others. */
  soon(): void {
    this.#round += 1;
    this.#retry = FIRST_RETRY_MILLISECONDS;
    this.#schedule(AFTER_MILLISECONDS);
  }

  dispose(): void {
    this.#round += 1;
    this.#timer?.dispose();
  }

  readonly #report = (error: unknown) => this.#log.error('asking the TypeScript server failed', error);

  /** Sends no request and runs no timer while no document is wanted. */
  #schedule(milliseconds: number): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (this.#wanted.length === 0) return;
    this.#timer = realClock.after(milliseconds, () => {
      this.#timer = undefined;
      void this.#askAll().catch(this.#report);
    });
  }

  async #askAll(): Promise<void> {
    const round = this.#round;
    this.#asking = true;
    let unanswered = 0;
    try {
      unanswered = await this.#ask(round);
    } finally {
      this.#asking = false;
    }
    if (round !== this.#round || this.#timer !== undefined) return;
    const wait = AGAIN_MILLISECONDS[AGAIN_MILLISECONDS.length - this.#again];
    if (wait !== undefined) {
      this.#again -= 1;
      this.#schedule(wait);
    } else if (unanswered > 0 && this.#retry <= LAST_RETRY_MILLISECONDS) {
      this.#schedule(this.#retry);
      this.#retry *= 2;
    }
  }

  #isWanted(uri: vscode.Uri): boolean {
    return this.#wanted.some((one) => one.toString() === uri.toString());
  }

  /** Resolves to the number of documents without an answer. */
  async #ask(round: number): Promise<number> {
    let unanswered = 0;
    for (const document of vscode.workspace.textDocuments) {
      const { uri, languageId } = document;
      const address = uri.toString();
      if (!LANGUAGES.has(languageId) || !this.#isWanted(uri)) continue;
      // The server reports problems of documents in tabs itself, but not that there are none: so it is asked once.
      const inTab = isInTab(uri);
      if (inTab && this.#answeredFor.has(address)) continue;
      const problems = await ask(uri);
      if (round !== this.#round) return 0;
      this.#hasServer = problems !== NO_SERVER;
      if (problems === NO_SERVER || document.isClosed) continue;
      if (problems === undefined) {
        unanswered += 1;
        continue;
      }
      this.#answeredFor.add(address);
      if (!inTab) this.#problems.set(address, problems);
      this.#answered(uri);
    }
    return unanswered;
  }
}

/** Undefined if the server has not loaded the file yet. */
async function ask(file: vscode.Uri): Promise<Problem[] | typeof NO_SERVER | undefined> {
  const problems: Problem[] = [];
  for (const request of REQUESTS) {
    const asked = vscode.commands.executeCommand<Answer | undefined>('typescript.tsserverRequest', request, { file });
    const answer = await Promise.resolve(asked).catch((error: unknown) =>
      /not found/i.test(describeError(error)) ? NO_SERVER : undefined,
    );
    if (answer === NO_SERVER) return NO_SERVER;
    if (!Array.isArray(answer?.body)) return undefined;
    problems.push(...answer.body.flatMap(toProblem));
  }
  return problems;
}

function toProblem({ start, text, code, category, source }: NonNullable<Answer['body']>[number]): Problem[] {
  if (category !== 'error' && category !== 'warning') return [];
  return [
    {
      severity: category,
      message: text,
      line: start.line,
      column: start.offset,
      source: source ?? 'ts',
      ...(code !== undefined && { code: String(code) }),
    },
  ];
}

export function isTypescript(languageId: string): boolean {
  return LANGUAGES.has(languageId);
}

function isInTab(uri: vscode.Uri): boolean {
  const address = uri.toString();
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.some((tab) => addressesOf(tab).includes(address)));
}

export function addressesOf({ input }: vscode.Tab): string[] {
  if (input instanceof vscode.TabInputText) return [input.uri.toString()];
  return input instanceof vscode.TabInputTextDiff ? [input.original.toString(), input.modified.toString()] : [];
}
