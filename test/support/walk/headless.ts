// Earshot without the editor, for walks: real files, watcher, processes, log and HTTP.
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ComposedHeadless, composeHeadless } from '../../../src/bin/headless/headless.ts';
import { type Clock } from '../../../src/base/clock.ts';
import { type Earshot } from '../../../src/core/earshot.ts';
import { type Model, type Producer } from '../../../src/core/ports/ports.ts';
import { type RemoteTasks, type Supervision } from '../../../src/core/ports/processes.ts';
import { type Views } from '../../../src/core/ports/storage.ts';
import { type Buffers, type Workspace } from '../../../src/core/ports/workspace.ts';
import { type Subagents } from '../../../src/core/subagents.ts';
import { type Handles } from '../../../src/core/tools/handles.ts';
import { type Services } from '../../../src/core/tools/services.ts';
import { type WakesDeps } from '../../../src/core/wakes/wakes.ts';
import { type FileSystem } from '../../../src/node/files/fileSystem.ts';
import { notifyEnvironment } from '../../../src/node/scripts/notifyProgram.ts';
import { realFolders } from '../../../src/node/scripts/scriptSpool.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { createFilesProducer, type FilesDeps } from '../../../src/producers/files/files.ts';
import { createLines } from '../../../src/producers/lines/lines.ts';
import { createScripts, type Scripts } from '../../../src/producers/scripts/scripts.ts';
import { type ForgeDeps } from '../../../src/producers/forge/forge.ts';
import { createHandlesProducer } from '../../../src/producers/handles.ts';
import { createWakesProducer } from '../../../src/producers/wakes.ts';
import { readSettings, type SettingName } from '../../../src/protocol/settings.ts';
import { askUserTool } from '../../../src/tools/askUser.ts';
import { createAwaitTool } from '../../../src/tools/commands/await.ts';
import { handleTool } from '../../../src/tools/commands/handle.ts';
import { runCommandTool } from '../../../src/tools/commands/runCommand.ts';
import { createFileTools } from '../../../src/tools/files/fileTools.ts';
import { readNotificationsTool } from '../../../src/tools/readNotifications.ts';
import { createStartAgentTool } from '../../../src/tools/startAgent.ts';
import { todoTool } from '../../../src/tools/todo.ts';
import { createWakeWhenTool } from '../../../src/tools/wakeWhen.ts';
import { watchTool } from '../../../src/tools/watch.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { type TestSupervisors, testSupervision } from '../tools/supervision.ts';
import { createFolderWorkspace } from '../workspace/folderWorkspace.ts';
import { TestFrontend } from './testFrontend.ts';

let launcher: string | undefined;

/**
 * Runs `earshot-notify` from its source, with the Node of the tests: the one on the PATH may be too old for the source.
 * A function, since bundled suites have no folder.
 */
export function notifyProgram(): string {
  if (launcher !== undefined) return launcher;
  const root = resolve(import.meta.dirname, '../../..');
  const folder = join(root, '.build/test');
  mkdirSync(folder, { recursive: true });
  launcher = join(folder, `notify-${process.pid}.sh`);
  const line = `exec '${process.execPath}' --no-warnings '${join(root, 'src/bin/notify.ts')}' "$@"`;
  writeFileSync(launcher, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return launcher;
}

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
  readonly listenersIn: ComposedHeadless['storage']['listenersIn'];
  /** Present with the option `scripts`. */
  readonly scripts: Scripts | undefined;
  readonly wakes: ComposedHeadless['wakes'];
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
  readonly supervisors?: TestSupervisors;
  /** Tasks of MCP servers. */
  readonly tasks?: RemoteTasks;
  /** The account's home with the spool of scripts. Absent: lines of scripts are not taken. */
  readonly scripts?: { readonly home: string; readonly mayWake?: boolean };
  /** Sources of facts for conditions, besides commands, files and ports. */
  readonly wakes?: Partial<WakesDeps>;
  /** How CI and pull requests are asked for. Absent: they are not followed. */
  readonly forge?: Partial<ForgeDeps>;
  /** Producers instead of the files producer. */
  readonly producers?: (deps: FilesDeps & { readonly handles: Handles }) => readonly Producer[];
  /** The clock of lines and silences. */
  readonly lineClock?: Clock;
  /** Wraps the files producer, so that a test can observe it. */
  readonly watchProducer?: (producer: Producer) => Producer;
}

const SURROUNDINGS = { system: 'Linux' };

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
  const frontend = new TestFrontend();
  const editor = options.editor?.(folder);
  const plain = createFolderWorkspace(folder);
  plain.trusted = options.trusted ?? true;
  const { settings } = readSettings((name) => options.settings?.[name]);
  const environment: NonNullable<TestSupervisors['environment']> = async ({ conversation, run }) => ({
    ...notifyEnvironment(
      notifyProgram(),
      conversation,
      run,
      composed.earshot.get(conversation)?.log.state.turn.key ?? '',
    ),
    EARSHOT_HOME: options.scripts?.home ?? '',
  });
  let scripts: Scripts | undefined;
  const composed: ComposedHeadless = composeHeadless({
    ...{ folder, storage, frontend },
    window: 'headless',
    userFolder: join(root, 'user'),
    logger: recordingLogger(errors),
    capture: options.checkpoints === true,
    ...testSupervision({ ...options.supervisors, ...(options.scripts && { environment }) }),
    ...(options.files && { files: options.files }),
    ...(options.tasks && { tasks: options.tasks }),
    settings: () => settings,
    model: () => options.model,
    ...(options.wakes && { wakes: options.wakes }),
    ...(options.forge && { forge: options.forge }),
    tools: ({ subagents: agents, wakes, clock }) => [
      ...createFileTools(),
      ...[runCommandTool, watchTool, readNotificationsTool, askUserTool, todoTool],
      ...[handleTool, createAwaitTool({ wakes, clock }), createStartAgentTool(agents)],
      createWakeWhenTool({ wakes, clock }),
    ],
    producers: ({ logger, snapshots, workspace, handles, wakes, forge }) => {
      const watching = { clock: realClock, logger, snapshots, workspace };
      // Times are compared with those of events, which the test's clock may set.
      const clock = { ...(options.lineClock ?? realClock), now: () => (options.ports?.clock ?? realClock).now() };
      const lines = createLines({ handles, workspace, clock, logger });
      scripts =
        options.scripts &&
        createScripts({
          ...{ handles, clock, logger, home: options.scripts.home },
          folders: () => realFolders([folder]),
          mayWake: () => options.scripts?.mayWake === true,
        });
      return [
        ...(options.producers?.({ ...watching, handles }) ?? [
          (options.watchProducer ?? unchanged)(createFilesProducer(watching)),
        ]),
        createHandlesProducer({ handles, clock: realClock, logger, ended: lines.ended }),
        lines.producer,
        ...(scripts ? [scripts.producer] : []),
        createWakesProducer(wakes),
        ...(options.forge ? [forge.producer] : []),
      ];
    },
    ports: {
      workspace: editor ?? plain,
      ...(editor && { buffers: editor }),
      shell: () => '/bin/sh',
      surroundings: async () => SURROUNDINGS,
      ...options.ports,
    },
  });
  const { earshot, handles, subagents, supervision, ports, wakes } = composed;
  const { views, listenersIn } = composed.storage;
  const close = async () => {
    await Promise.all(handles.busy.map((id) => handles.stopAll(id, 'the test ended')));
    await composed.close();
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
    listenersIn,
    scripts,
    wakes,
    errors,
    events: (conversation) => readFile(join(storage, 'conversations', conversation, 'events.jsonl'), 'utf8'),
    second: (model = options.model, more = {}) =>
      startHeadlessIn(root, { ...options, model, ...more, ports: { ...options.ports, ...more.ports } }),
    restart: async (more = {}) => {
      await composed.close();
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
