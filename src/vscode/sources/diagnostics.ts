// Diagnostics of this window as plain data, and documents that are kept open so that servers check them.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type Logger } from '../../core/ports/ports.ts';
import {
  type FileProblems,
  type Problem,
  type Problems,
  type ProblemsChange,
  type Severity,
} from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { realClock } from '../../node/realClock.ts';
import { toFilePath, toUri } from '../workspace/fileUris.ts';
import { addressesOf, isTypescript, TypescriptPull } from './typescriptPull.ts';

/** Larger documents are not opened to be checked. */
const LARGEST = 2_000_000;
/** Changed files are collected for this long, since a checkout changes thousands. */
const GATHER_MILLISECONDS = 50;
const MOST_ASKED = 20;
const LONGEST_LAG_MILLISECONDS = 5000;
const MAY_CONCERN_TYPESCRIPT = /\.([cm]?[jt]sx?|json|vue|svelte)$/i;

const SEVERITIES: Readonly<Partial<Record<vscode.DiagnosticSeverity, Severity>>> = {
  [vscode.DiagnosticSeverity.Error]: 'error',
  [vscode.DiagnosticSeverity.Warning]: 'warning',
  [vscode.DiagnosticSeverity.Information]: 'info',
};

export class DiagnosticsSource implements Problems, Disposable {
  readonly #log: Logger;
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<ProblemsChange>;
  readonly #typescript: TypescriptPull;
  /** Files that changed on disk and are not reported yet. */
  readonly #touched: vscode.Uri[] = [];
  #touchTimer: Disposable | undefined;
  /** Documents that are kept open, by address. */
  #kept: ReadonlyMap<string, vscode.Uri> = new Map();

  constructor(logger: Logger) {
    this.#log = logger;
    this.#onDidChange = this.#held.add(new Emitter((error) => logger.error('a listener failed', error)));
    this.#typescript = this.#held.add(new TypescriptPull(logger, (uri) => this.#fire('reported', [uri])));
    const { workspace } = vscode;
    this.#held.add(vscode.languages.onDidChangeDiagnostics(({ uris }) => this.#fire('reported', uris)));
    this.#held.add(
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length === 0) return;
        this.#fire('edited', [document.uri]);
        if (isTypescript(document.languageId)) this.#typescript.soon();
      }),
    );
    this.#held.add(
      workspace.onDidOpenTextDocument(({ uri, languageId }) => {
        this.#fire('opened', [uri]);
        if (isTypescript(languageId)) this.#typescript.soon();
      }),
    );
    // Some servers check only documents shown in a tab: for them a tab counts as the document.
    this.#held.add(
      vscode.window.tabGroups.onDidChangeTabs(({ opened, closed }) => {
        this.#fire('closed', uniqueUris(closed));
        this.#fire('opened', uniqueUris(opened));
        this.#typescript.soon();
      }),
    );
    this.#watchDisk();
    this.#held.add(
      workspace.onDidCloseTextDocument(({ uri }) => {
        this.#fire('closed', [uri]);
        this.#typescript.closed(uri);
        if (this.#kept.has(uri.toString())) this.#open(uri);
      }),
    );
  }

  get onDidChange(): Emitter<ProblemsChange>['event'] {
    return this.#onDidChange.event;
  }

  all(): readonly FileProblems[] {
    const uris = new Map(vscode.languages.getDiagnostics().map(([uri]) => [uri.toString(), uri]));
    for (const [address, uri] of this.#kept) uris.set(address, uri);
    const open = openLanguages();
    return [...uris.values()].flatMap((uri) => {
      const file = toFilePath(uri);
      const found = file && this.#of(file, uri, open);
      return found === undefined || found.problems.length === 0 ? [] : [found];
    });
  }

  of(file: FilePath): FileProblems {
    return this.#of(file, toUri(file), openLanguages());
  }

  opened(): readonly FilePath[] {
    return vscode.workspace.textDocuments.flatMap(({ uri }) => toFilePath(uri) ?? []);
  }

  #of(file: FilePath, uri: vscode.Uri, open: ReadonlyMap<string, string>): FileProblems {
    const language = open.get(uri.toString());
    const pulled = this.#typescript.of(uri);
    const watched = language !== undefined && (!isTypescript(language) || this.#typescript.hasChecked(uri));
    return { file, open: watched, problems: [...toProblems(vscode.languages.getDiagnostics(uri)), ...(pulled ?? [])] };
  }

  keepOpen(files: readonly FilePath[]): void {
    const before = this.#kept;
    this.#kept = new Map(files.map((file) => [toUri(file).toString(), toUri(file)]));
    const added = [...this.#kept].filter(([address]) => !before.has(address));
    if (added.length === 0 && before.size === this.#kept.size) return;
    for (const [, uri] of added) this.#open(uri);
    this.#typescript.want([...this.#kept.values()]);
  }

  dispose(): void {
    this.#kept = new Map();
    this.#held.dispose();
  }

  /** Problems of a document also depend on files that are not open and that other programs change. */
  #watchDisk(): void {
    const watcher = this.#held.add(vscode.workspace.createFileSystemWatcher('**/*'));
    const changed = (uri: vscode.Uri) => {
      this.#touched.push(uri);
      this.#touchTimer ??= realClock.after(GATHER_MILLISECONDS, () => {
        this.#touchTimer = undefined;
        const uris = this.#touched.splice(0);
        if (uris.some(({ path }) => MAY_CONCERN_TYPESCRIPT.test(path))) this.#typescript.touched();
        void this.#fireChanged(uris).catch((error: unknown) =>
          this.#log.error('a changed file could not be reported', error),
        );
      });
    };
    // Disposed with the watcher.
    watcher.onDidCreate(changed);
    watcher.onDidChange(changed);
    watcher.onDidDelete(changed);
    this.#held.add({ dispose: () => this.#touchTimer?.dispose() });
  }

  /** The watcher reports changes late, so for a few files the time of the change is read from the disk. */
  async #fireChanged(uris: readonly vscode.Uri[]): Promise<void> {
    if (uris.length > MOST_ASKED) this.#fire('changed', uris);
    else await Promise.all(uris.map(async (uri) => this.#fire('changed', [uri], await millisecondsSince(uri))));
  }

  #fire(type: ProblemsChange['type'], uris: readonly vscode.Uri[], agoMilliseconds?: number): void {
    const files = uris.flatMap((uri) => toFilePath(uri) ?? []);
    if (files.length === 0) return;
    this.#onDidChange.fire({ type, files, ...defined({ agoMilliseconds }) });
  }

  /** Missing, binary and huge files stay closed and are not checked. */
  #open(uri: vscode.Uri): void {
    const open = async () => {
      if (isOpen(uri) || (await vscode.workspace.fs.stat(uri)).size > LARGEST) return;
      await vscode.workspace.openTextDocument(uri);
    };
    void open().catch((error: unknown) => this.#log.debug(`${uri.path} is not kept open: ${describeError(error)}`));
  }
}

/** Undefined if the file is gone, or if its time is not that of the change, as for a moved or copied file. */
async function millisecondsSince(uri: vscode.Uri): Promise<number | undefined> {
  try {
    const ago = Date.now() - (await vscode.workspace.fs.stat(uri)).mtime;
    return ago >= 0 && ago <= LONGEST_LAG_MILLISECONDS ? ago : undefined;
  } catch {
    return undefined;
  }
}

/** The language of each open document, by its address. */
function openLanguages(): Map<string, string> {
  return new Map(vscode.workspace.textDocuments.map(({ uri, languageId }) => [uri.toString(), languageId]));
}

function uniqueUris(tabs: readonly vscode.Tab[]): vscode.Uri[] {
  return [...new Set(tabs.flatMap(addressesOf))].map((address) => vscode.Uri.parse(address));
}

function isOpen(uri: vscode.Uri): boolean {
  const address = uri.toString();
  return vscode.workspace.textDocuments.some((document) => !document.isClosed && document.uri.toString() === address);
}

function toProblems(diagnostics: readonly vscode.Diagnostic[]): Problem[] {
  return diagnostics.flatMap((diagnostic) => {
    const severity = SEVERITIES[diagnostic.severity];
    if (severity === undefined) return [];
    const { message, range, source } = diagnostic;
    const code = typeof diagnostic.code === 'object' ? diagnostic.code.value : diagnostic.code;
    return [
      {
        severity,
        message,
        line: range.start.line + 1,
        column: range.start.character + 1,
        ...(source !== undefined && source !== '' && { source }),
        ...(code !== undefined && { code: String(code) }),
      },
    ];
  });
}
