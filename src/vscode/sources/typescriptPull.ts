// Asks the TypeScript server of documents that no tab shows: it looks at the others by itself, and at these only when asked.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { type Log } from '../../core/ports.ts';
import { type Problem } from '../../core/problemPorts.ts';
import { realClock } from '../../node/realClock.ts';

const LANGUAGES: ReadonlySet<string> = new Set(['typescript', 'typescriptreact', 'javascript', 'javascriptreact']);
const REQUESTS = ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'] as const;
const AFTER_MILLISECONDS = 150;

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
  readonly #log: Log;
  readonly #answered: (uri: vscode.Uri) => void;
  readonly #problems = new Map<string, readonly Problem[]>();
  #timer: Disposable | undefined;
  /** Rises when what is being asked is out of date. */
  #round = 0;
  #wanted: readonly vscode.Uri[] = [];

  /** `answered` is called for each document that was asked for, whether its problems changed or not. */
  constructor(log: Log, answered: (uri: vscode.Uri) => void) {
    this.#log = log;
    this.#answered = answered;
  }

  /** Undefined: it was not asked for, or a tab shows it. */
  of(uri: vscode.Uri): readonly Problem[] | undefined {
    return isInTab(uri) ? undefined : this.#problems.get(uri.toString());
  }

  want(uris: readonly vscode.Uri[]): void {
    this.#wanted = uris;
    const kept = new Set(uris.map((uri) => uri.toString()));
    for (const address of this.#problems.keys()) if (!kept.has(address)) this.#problems.delete(address);
    this.soon();
  }

  /** After something changed: what one document says depends on others. */
  soon(): void {
    this.#round += 1;
    this.#timer?.dispose();
    this.#timer = realClock.after(AFTER_MILLISECONDS, () => void this.#ask(this.#round).catch(this.#report));
  }

  dispose(): void {
    this.#round += 1;
    this.#timer?.dispose();
  }

  readonly #report = (error: unknown) => this.#log.error('asking the TypeScript server failed', error);

  async #ask(round: number): Promise<void> {
    for (const document of vscode.workspace.textDocuments) {
      const { uri, languageId } = document;
      const wanted = this.#wanted.some((one) => one.toString() === uri.toString());
      if (!wanted || !LANGUAGES.has(languageId) || isInTab(uri)) continue;
      const problems = await ask(uri);
      if (round !== this.#round) return;
      if (problems === undefined) continue;
      this.#problems.set(uri.toString(), problems);
      this.#answered(uri);
    }
  }
}

/** Undefined where there is no such server, or it does not know the file yet. */
async function ask(file: vscode.Uri): Promise<Problem[] | undefined> {
  const problems: Problem[] = [];
  for (const request of REQUESTS) {
    const asked = vscode.commands.executeCommand<Answer | undefined>('typescript.tsserverRequest', request, { file });
    const answer = await Promise.resolve(asked).catch(() => undefined);
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

export function isInTab(uri: vscode.Uri): boolean {
  const address = uri.toString();
  return vscode.window.tabGroups.all.some(({ tabs }) => tabs.some((tab) => addressesOf(tab).includes(address)));
}

export function addressesOf({ input }: vscode.Tab): string[] {
  if (input instanceof vscode.TabInputText) return [input.uri.toString()];
  return input instanceof vscode.TabInputTextDiff ? [input.original.toString(), input.modified.toString()] : [];
}
