// Records what the editor's sources report, as the producers would get it. Runs inside the extension host.
import { appendFileSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore, toDisposable } from '../../src/base/disposable.ts';
import { type Logger } from '../../src/core/ports/ports.ts';
import { realClock } from '../../src/node/realClock.ts';
import { WatchedPaths } from '../../src/producers/files/diskWatch.ts';
import { GitRepository } from '../../src/producers/git/gitRepository.ts';
import { findGitFolder } from '../../src/node/files/gitFolder.ts';
import { editorBuffers } from '../../src/vscode/sources/buffers.ts';
import { DiagnosticsSource } from '../../src/vscode/sources/diagnostics.ts';
import { createEditorFiles } from '../../src/vscode/sources/files.ts';
import { editorTerminals } from '../../src/vscode/sources/terminals.ts';
import { EditorTasks } from '../../src/vscode/tasks/editorTasks.ts';
import { toFilePath } from '../../src/vscode/workspace/fileUris.ts';
import { editBetween, type Fact, type ProblemsOf, READ, type Recorded } from './recorded.ts';

/** The contents of these folders are not needed. */
const HEAVY = /^(\.git|node_modules|dist|coverage|vendor)(\/|$)/;
const OUTPUT_KEPT = 3000;

export interface RecorderOptions {
  readonly folder: string;
  readonly file: string;
  /** Paths of this machine, each with the text that replaces it. */
  readonly masks: readonly (readonly [string, string])[];
  /** Contents of the files when the recording begins, by path relative to the folder. */
  readonly start: Readonly<Record<string, string>>;
  report(error: unknown): void;
}

export class Recorder implements Disposable {
  readonly #options: RecorderOptions;
  readonly #began = Date.now();
  readonly #held = new DisposableStore();
  /** Contents of files according to the recording. */
  readonly #disk: Map<string, string | null>;
  readonly #buffers = new Map<string, string>();
  readonly #problems = new Map<string, { readonly open: boolean; readonly problems: string }>();

  static async begin(options: RecorderOptions): Promise<Recorder> {
    const recorder = new Recorder(options);
    await recorder.#followGit();
    return recorder;
  }

  private constructor(options: RecorderOptions) {
    this.#options = options;
    this.#disk = new Map(Object.entries(options.start));
    this.#write({ start: options.start });
    const { report } = options;
    const log: Logger = { debug: () => {}, info: () => {}, warn: report, error: (_what, error) => report(error) };
    this.#held.add(createEditorFiles().onDidTouch(({ type, path }) => this.#touched('editor', type, path)));
    const watched = new WatchedPaths({
      logger: log,
      hasOther: false,
      touched: (path, type) => this.#touched('chokidar', type, path),
      broke: report,
    });
    this.#held.add(watched);
    for (const path of READ) watched.add(path, this.#absolute(path));
    this.#held.add(editorBuffers.onDidChange((path) => this.#bufferChanged(path)));
    this.#held.add(editorBuffers.onDidSave(({ path }) => this.#note({ type: 'save', path, ...this.#onDisk(path) })));
    this.#held.add(editorBuffers.onDidRename((renamed) => this.#note({ type: 'rename', renamed })));
    this.#held.add(
      editorTerminals(report).onDidEnd((command) =>
        this.#note({ type: 'command', command: { ...command, output: command.output.slice(-OUTPUT_KEPT) } }),
      ),
    );
    const tasks = this.#held.add(
      new EditorTasks(realClock, { ask: async () => false, withdraw: () => undefined }, report),
    );
    this.#held.add(tasks.onDidEnd((end) => this.#note({ type: 'task', end })));
    this.#followProblems(this.#held.add(new DiagnosticsSource(log)));
  }

  step(label: string): void {
    this.#note({ type: 'step', label });
  }

  dispose(): void {
    this.#held.dispose();
  }

  #absolute(path: string): string {
    return join(this.#options.folder, path);
  }

  #note(fact: Fact): void {
    this.#write({ at: Date.now() - this.#began, ...fact } satisfies Recorded);
  }

  #write(entry: object): void {
    const { file, masks } = this.#options;
    const line = masks.reduce((text, [place, mask]) => text.replaceAll(place, mask), JSON.stringify(entry));
    appendFileSync(file, `${line}\n`);
  }

  /** Reads synchronously, since the content may change a moment later. */
  #onDisk(path: string): { text?: string | null } {
    if (HEAVY.test(path)) return {};
    let text: string | null = null;
    try {
      text = readFileSync(this.#absolute(path), 'utf8');
    } catch {
      // The file was deleted, or the path is a folder.
    }
    if (text === (this.#disk.get(path) ?? null)) return {};
    this.#disk.set(path, text);
    return { text };
  }

  #touched(by: 'editor' | 'chokidar', touch: 'created' | 'changed' | 'deleted', path: string): void {
    this.#note({ type: 'touch', by, touch, path, ...this.#onDisk(path) });
  }

  #bufferChanged(path: string): void {
    const document = vscode.workspace.textDocuments.find(({ uri }) => toFilePath(uri)?.path === path);
    if (document?.isDirty !== true) {
      this.#buffers.delete(path);
      this.#note({ type: 'buffer', path });
      return;
    }
    const text = document.getText();
    const edit = editBetween(this.#buffers.get(path) ?? this.#disk.get(path) ?? '', text);
    this.#buffers.set(path, text);
    this.#note({ type: 'buffer', path, edit });
  }

  #followProblems(source: DiagnosticsSource): void {
    this.#held.add(
      source.onDidChange(({ type, files }) => {
        const found = files.map((file): ProblemsOf => {
          const { open, problems } = source.of(file);
          const before = this.#problems.get(file.path) ?? { open: false, problems: '[]' };
          const now = { open, problems: JSON.stringify(problems) };
          this.#problems.set(file.path, now);
          return {
            path: file.path,
            ...(open !== before.open && { open }),
            ...(now.problems !== before.problems && { problems }),
          };
        });
        this.#note({ type: 'problems', change: type, files: found });
      }),
    );
    source.keepOpen(READ.map((path) => ({ path, absolute: this.#absolute(path) })));
  }

  async #followGit(): Promise<void> {
    const { folder, report } = this.#options;
    const found = await findGitFolder(folder);
    if (found === undefined) throw new Error('there is no repository');
    const repository = await GitRepository.open({
      folder: found,
      clock: realClock,
      trusted: true,
      settled: async (settled) =>
        this.#note({ type: 'git', settled: { ...settled, since: settled.since - this.#began } }),
      report,
      broke: report,
    });
    this.#held.add(repository);
    let busy = false;
    const watcher = watch(found.own, { persistent: false }, () => {
      if (busy) return;
      busy = true;
      this.#note({ type: 'git_busy' });
      const free = repository.passed().then((passed) => {
        busy = false;
        this.#note({ type: 'git_free', passed });
      });
      void free.catch(report);
    });
    this.#held.add(toDisposable(() => watcher.close()));
  }
}
