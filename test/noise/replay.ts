// Replays a recording in place of the editor and the disk, and passes each fact to the real producers.
import { DisposableStore } from '../../src/base/disposable.ts';
import { Emitter } from '../../src/base/emitter.ts';
import { failed, succeeded } from '../../src/base/errors.ts';
import { guardWorkspace } from '../../src/core/consent/door.ts';
import { type Clock, type Logger, type Producer } from '../../src/core/ports/ports.ts';
import {
  type Problem,
  type Problems,
  type ProblemsChange,
  type ReportedProblems,
} from '../../src/core/ports/problems.ts';
import {
  type EditorBuffers,
  type EndedCommand,
  type FileTouch,
  type Renamed,
  type SavedFile,
} from '../../src/core/ports/sources.ts';
import { type Snapshots } from '../../src/core/ports/storage.ts';
import { type TaskEnd } from '../../src/core/ports/tasks.ts';
import { type FilePath, type Workspace } from '../../src/core/ports/workspace.ts';
import { createConfigProducer } from '../../src/producers/config.ts';
import { createDiagnosticsProducer } from '../../src/producers/diagnostics/diagnostics.ts';
import { createEditorProducer } from '../../src/producers/files/editor.ts';
import { createFilesProducer, type FilesDeps } from '../../src/producers/files/files.ts';
import { createGitProducer } from '../../src/producers/git/git.ts';
import { GitGate, type Passed } from '../../src/producers/git/gitGate.ts';
import { type RepositoryDeps } from '../../src/producers/git/gitRepository.ts';
import { createTasksProducer } from '../../src/producers/tasks/tasks.ts';
import { createTerminalsProducer } from '../../src/producers/terminals.ts';
import { createFolderDisk } from '../support/workspace/folderWorkspace.ts';
import { applyEdit, type ProblemsOf, type Recorded } from './recorded.ts';

const ROOT = '/shop';
const CHOKIDAR = { created: 'add', changed: 'change', deleted: 'unlink' } as const;

interface ReplayDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly snapshots: Snapshots;
}

export class Replay {
  readonly workspace: Workspace;
  readonly producers: readonly Producer[];
  readonly problems: ReportedProblems;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #files: Map<string, string>;
  readonly #buffers = new Map<string, string>();
  readonly #found = new Map<string, { open: boolean; problems: readonly Problem[] }>();
  readonly #held = new DisposableStore();
  readonly #touched: Emitter<FileTouch>;
  readonly #changed: Emitter<string>;
  readonly #saved: Emitter<SavedFile>;
  readonly #renamed: Emitter<readonly Renamed[]>;
  readonly #ended: Emitter<EndedCommand>;
  readonly #tasks: Emitter<TaskEnd>;
  readonly #reported: Emitter<ProblemsChange>;
  readonly #chokidar = new Map<string, (absolute: string) => void>();
  #repository: RepositoryDeps | undefined;
  #busy: PromiseWithResolvers<Passed> | undefined;
  #settling: Promise<void> = Promise.resolve();

  constructor({ clock, logger: log, snapshots }: ReplayDeps, start: Readonly<Record<string, string>>) {
    this.#clock = clock;
    this.#log = log;
    this.#files = new Map(Object.entries(start));
    const emitter = <T>() => this.#held.add(new Emitter<T>((error) => log.error('a listener failed', error)));
    this.#touched = emitter();
    this.#changed = emitter();
    this.#saved = emitter();
    this.#renamed = emitter();
    this.#ended = emitter();
    this.#tasks = emitter();
    this.#reported = emitter();
    this.workspace = this.#createWorkspace();
    const parts = { clock, logger: log, snapshots, workspace: this.workspace, gate: new GitGate() };
    const buffers: EditorBuffers = {
      unsaved: () => [...this.#buffers.keys()],
      onDidChange: this.#changed.event,
      onDidSave: this.#saved.event,
      onDidRename: this.#renamed.event,
    };
    const tasks = { list: () => neverAsked(), run: () => neverAsked(), onDidEnd: this.#tasks.event };
    const diagnostics = createDiagnosticsProducer({ ...parts, problems: this.#createProblems() });
    this.problems = diagnostics;
    this.producers = [
      createFilesProducer({
        ...parts,
        buffers,
        editorFiles: { onDidTouch: this.#touched.event },
        watch: this.#createWatch(),
      }),
      createGitProducer({
        ...parts,
        find: async () => ({ own: `${ROOT}/.git`, shared: `${ROOT}/.git`, tree: ROOT }),
        open: async (repository) => {
          this.#repository = repository;
          return { passed: async () => this.#busy?.promise ?? 'free', dispose: () => undefined };
        },
      }),
      createEditorProducer({ ...parts, buffers }),
      createTerminalsProducer({ ...parts, terminals: { onDidEnd: this.#ended.event } }),
      createTasksProducer({ ...parts, tasks }),
      diagnostics,
      createConfigProducer(),
    ];
  }

  play(entry: Recorded): void {
    switch (entry.type) {
      case 'step':
        return;
      case 'touch':
        this.#write(entry.path, entry.text);
        if (entry.by === 'editor') this.#touched.fire({ type: entry.touch, path: entry.path });
        else this.#chokidar.get(CHOKIDAR[entry.touch])?.(`${ROOT}/${entry.path}`);
        return;
      case 'buffer': {
        const before = this.#buffers.get(entry.path) ?? this.#files.get(entry.path) ?? '';
        if (entry.edit === undefined) this.#buffers.delete(entry.path);
        else this.#buffers.set(entry.path, applyEdit(before, entry.edit));
        this.#changed.fire(entry.path);
        return;
      }
      case 'save':
        this.#write(entry.path, entry.text);
        this.#saved.fire({
          path: entry.path,
          bytes: Promise.resolve(Buffer.from(this.#files.get(entry.path) ?? '')),
          own: false,
        });
        return;
      case 'rename':
        this.#renamed.fire(entry.renamed);
        return;
      case 'command':
        this.#ended.fire(entry.command);
        return;
      case 'task':
        this.#tasks.fire(entry.end);
        return;
      case 'problems':
        for (const file of entry.files) this.#find(file);
        this.#reported.fire({ type: entry.change, files: entry.files.map(({ path }) => fileOf(path)) });
        return;
      case 'git_busy':
        this.#busy = Promise.withResolvers();
        return;
      case 'git': {
        const { settled, at } = entry;
        const since = this.#clock.now() - (at - settled.since);
        const settling = this.#repository?.settled({ ...settled, since }) ?? Promise.resolve();
        // Not awaited: the report may be held for a while, and the clock advances only if the replay continues.
        this.#settling = settling.catch((error: unknown) => this.#log.error('git', error));
        return;
      }
      case 'git_free': {
        const busy = this.#busy;
        // As in the repository, the operation ends only after it was reported.
        void this.#settling
          .then(() => {
            busy?.resolve(entry.passed);
            if (this.#busy === busy) this.#busy = undefined;
          })
          .catch((error: unknown) => this.#log.error('git', error));
      }
    }
  }

  dispose(): void {
    this.#held.dispose();
  }

  #write(path: string, text: string | null | undefined): void {
    if (text === null) this.#files.delete(path);
    else if (text !== undefined) this.#files.set(path, text);
  }

  #find({ path, open, problems }: ProblemsOf): void {
    const before = this.#found.get(path) ?? { open: false, problems: [] };
    this.#found.set(path, { open: open ?? before.open, problems: problems ?? before.problems });
  }

  #createWorkspace(): Workspace {
    const disk = Object.assign(createFolderDisk(ROOT), {
      resolve: async (path: string) => succeeded(fileOf(path)),
      readJudged: async ({ path }: FilePath) => {
        const [buffer, file] = [this.#buffers.get(path), this.#files.get(path)];
        const text = buffer ?? file;
        return text === undefined
          ? failed('not_found', `${path} does not exist.`)
          : succeeded({ bytes: Buffer.from(text), unsaved: buffer !== undefined });
      },
      locate: async ({ path }: FilePath) => succeeded({ path, outside: false }),
      listUnjudged: async () => succeeded([]),
    });
    return guardWorkspace(disk);
  }

  #createProblems(): Problems {
    const of = (path: string) => ({ file: fileOf(path), ...(this.#found.get(path) ?? { open: false, problems: [] }) });
    return {
      all: () => [...this.#found.keys()].map(of).filter(({ problems }) => problems.length > 0),
      of: ({ path }) => of(path),
      onDidChange: this.#reported.event,
      // During the recording, the read files were kept open.
      opened: () => [],
      keepOpen: () => undefined,
    };
  }

  /** Replaces chokidar. */
  #createWatch(): FilesDeps['watch'] {
    const watcher = {
      on: (event: string, listener: (absolute: string) => void) => this.#chokidar.set(event, listener),
      add: () => undefined,
      unwatch: () => undefined,
      close: async () => undefined,
    };
    return () => watcher as never;
  }
}

function fileOf(path: string): FilePath {
  return { path, absolute: `${ROOT}/${path}` };
}

function neverAsked(): never {
  throw new Error('a recording cannot list or run tasks');
}
