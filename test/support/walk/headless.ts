// Earshot without the editor, for walks: real files, watcher, processes, log and HTTP.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Earshot } from '../../../src/core/earshot.ts';
import { type Model, type Producer } from '../../../src/core/ports/ports.ts';
import { type RemoteTasks, type Supervision } from '../../../src/core/ports/processes.ts';
import { type Views } from '../../../src/core/ports/storage.ts';
import { type Buffers, type Workspace } from '../../../src/core/ports/workspace.ts';
import { Subagents } from '../../../src/core/subagents.ts';
import { type Handles } from '../../../src/core/tools/handles.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { type FileSystem, realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { processObserver } from '../../../src/node/processActivity.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { createFilesProducer, type FilesDeps } from '../../../src/producers/files/files.ts';
import { createHandlesProducer } from '../../../src/producers/handles.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { createStorage } from '../../../src/storage/storage.ts';
import { askUserTool } from '../../../src/tools/askUser.ts';
import { awaitTool } from '../../../src/tools/commands/await.ts';
import { handleTool } from '../../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../../src/tools/commands/runCommand.ts';
import { createFileTools } from '../../../src/tools/files/fileTools.ts';
import { readNotificationsTool } from '../../../src/tools/readNotifications.ts';
import { createStartAgentTool } from '../../../src/tools/startAgent.ts';
import { todoTool } from '../../../src/tools/todo.ts';
import { watchTool } from '../../../src/tools/watch.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { createTestHandles, type TestHandlesOptions } from '../tools/supervision.ts';
import { createFolderWorkspace } from '../workspace/folderWorkspace.ts';
import { TestFrontend } from './testFrontend.ts';

export interface Headless {
  readonly earshot: Earshot;
  readonly handles: Handles;
  readonly subagents: Subagents;
  readonly supervision: Supervision;
  readonly ports: Services;
  readonly frontend: TestFrontend;
  /** The workspace folder. */
  readonly folder: string;
  readonly storage: string;
  readonly views: Views;
  /** Logged errors. */
  readonly errors: readonly string[];
  events(conversation: string): Promise<string>;
  /** Shuts down like a closing window and starts again on the same folders. */
  restart(more?: Partial<HeadlessOptions>): Promise<Headless>;
  /** Another window on the same folders. */
  second(model?: Model, more?: Partial<HeadlessOptions>): Promise<Headless>;
  /** Ends everything but keeps the folders, because another window still uses them. */
  close(): Promise<void>;
  /**
   * Ends everything and removes the folders. No other window may use them any more: it would create files in them
   * again.
   */
  end(): Promise<void>;
}

export interface HeadlessOptions {
  readonly model: Model;
  readonly settings?: Partial<Record<SettingName, unknown>>;
  readonly trusted?: boolean;
  /** Captures the workspace before turns and commands. */
  readonly checkpoints?: boolean;
  /** The file system that stores conversations. */
  readonly files?: FileSystem;
  /** Replacements for real parts. */
  readonly ports?: Partial<Services>;
  /** An editor over the folder, instead of the plain workspace. */
  readonly editor?: (folder: string) => Workspace & Buffers;
  /** Options of supervisors, for example shorter waits. */
  readonly supervisors?: NonNullable<TestHandlesOptions['supervisors']>;
  /** Tasks of MCP servers. */
  readonly tasks?: RemoteTasks;
  /** Producers instead of the files producer. */
  readonly producers?: (deps: FilesDeps) => readonly Producer[];
  /** Wraps the files producer, so that a test can observe it. */
  readonly watchProducer?: (producer: Producer) => Producer;
}

export async function startHeadless(options: HeadlessOptions): Promise<Headless> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-walk-'));
  await mkdir(join(root, 'workspace'));
  return startHeadlessIn(root, options);
}

/** Starts on existing folders, for example those of an earlier window. */
export async function startHeadlessIn(root: string, options: HeadlessOptions): Promise<Headless> {
  const folder = join(root, 'workspace');
  const storage = join(root, 'storage');
  const errors: string[] = [];
  const log = recordingLogger(errors);
  const frontend = new TestFrontend();
  const editor = options.editor?.(folder);
  const plain = createFolderWorkspace(folder);
  plain.trusted = options.trusted ?? true;
  const workspace = editor ?? plain;
  const parts = { clock: realClock, ids: realIds, logger: log, window: 'headless' };
  const { store, lock, snapshots, checkpoints, views } = createStorage({
    files: options.files ?? realFileSystem,
    folder: storage,
    ...parts,
  });
  const { settings } = readSettings((name) => options.settings?.[name]);
  const model = () => options.model;
  const subagents = new Subagents({ ...parts, store, settings: () => settings, model, ...options.ports });
  const { handles, supervision } = createTestHandles({
    storage,
    logger: log,
    clock: options.ports?.clock ?? realClock,
    tasks: options.tasks,
    agents: subagents,
    ...(options.supervisors && { supervisors: options.supervisors }),
  });
  const ports: Services = {
    clock: realClock,
    ids: realIds,
    logger: log,
    store,
    lock,
    snapshots,
    ...(options.checkpoints === true && { checkpoints }),
    workspace,
    ...(editor && { buffers: editor }),
    frontend,
    tools: [
      ...createFileTools(),
      ...[runCommandTool, watchTool, readNotificationsTool, askUserTool, todoTool],
      ...[handleTool, awaitTool, createStartAgentTool(subagents)],
    ],
    producers: [
      ...(options.producers?.({ clock: realClock, logger: log, snapshots, workspace }) ?? [
        (options.watchProducer ?? unchanged)(
          createFilesProducer({ clock: realClock, logger: log, snapshots, workspace }),
        ),
      ]),
      createHandlesProducer({ handles, clock: realClock, logger: log }),
    ],
    handles,
    subagents,
    processes: processObserver,
    shell: () => '/bin/sh',
    settings: () => settings,
    model,
    ...options.ports,
  };
  const earshot = new Earshot(ports);
  subagents.attach({ earshot, handles });
  const close = async () => {
    await Promise.all(handles.busy.map((id) => handles.stopAll(id, 'the test ended')));
    await earshot.shutDown();
    await checkpoints.close();
    handles.dispose();
  };
  return {
    earshot,
    handles,
    subagents,
    supervision,
    ports,
    frontend,
    folder,
    storage,
    views,
    errors,
    events: (conversation) => readFile(join(storage, 'conversations', conversation, 'events.jsonl'), 'utf8'),
    second: (model = options.model, more = {}) =>
      startHeadlessIn(root, { ...options, model, ...more, ports: { ...options.ports, ...more.ports } }),
    restart: async (more = {}) => {
      await earshot.shutDown();
      await checkpoints.close();
      handles.dispose();
      return startHeadlessIn(root, { ...options, ...more });
    },
    close,
    end: async () => {
      await close();
      // An abandoned capture may still write to the folder.
      await rm(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function unchanged(producer: Producer): Producer {
  return producer;
}
