// An hour of ordinary work, recorded from real tools, in fast motion: what the model is told of it, with the reason for each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Emitter } from '../../src/base/emitter.ts';
import { failed, succeeded } from '../../src/base/errors.ts';
import { Earshot } from '../../src/core/earshot.ts';
import { estimateTokens } from '../../src/core/notify/tokens.ts';
import { type EndedCommand, type FileTouch } from '../../src/core/sourcePorts.ts';
import { type Workspace } from '../../src/core/workspacePorts.ts';
import { createOpenAiModel } from '../../src/models/openai.ts';
import { createConfigProducer } from '../../src/producers/config.ts';
import { createEditorProducer } from '../../src/producers/editor.ts';
import { createFilesProducer } from '../../src/producers/files.ts';
import { createGitProducer } from '../../src/producers/git.ts';
import { GitGate } from '../../src/producers/gitGate.ts';
import { type RepositoryDeps } from '../../src/producers/gitRepository.ts';
import { createTerminalsProducer } from '../../src/producers/terminals.ts';
import { type LogEvent } from '../../src/protocol/event.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { listFilesTool } from '../../src/tools/listFiles.ts';
import { readFileTool } from '../../src/tools/readFile.ts';
import { type Recorded } from '../noise/recorded.ts';
import { createFolderWorkspace } from '../support/folderWorkspace.ts';
import { createManualClock } from '../support/manualClock.ts';
import { memoryWindow } from '../support/memoryStorage.ts';
import { recordingLog } from '../support/recordingLog.ts';
import { type ScriptedServer, startScriptedServer } from '../support/scriptedServer.ts';
import { TestFrontend } from '../support/testFrontend.ts';

const READ = [
  'src/part1.ts',
  'src/part2.ts',
  'src/part3.ts',
  'src/part4.ts',
  'src/part9.ts',
  'package.json',
  'README.md',
];
/** The user writes after every third thing that happened. */
const STEPS_A_TURN = 3;

const [first = '', ...lines] = readFileSync(join(import.meta.dirname, '../noise/recording.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');
const { start } = JSON.parse(first) as { start: Record<string, string> };
const recording = lines.map((line) => JSON.parse(line) as Recorded);

let server: ScriptedServer | undefined;
let earshot: Earshot | undefined;
afterEach(async () => {
  await earshot?.shutDown();
  await server?.stop();
});

function memoryWorkspace(files: ReadonlyMap<string, string>): Workspace {
  return Object.assign(createFolderWorkspace('/shop'), {
    resolve: async (path: string) => succeeded({ path, absolute: `/shop/${path}` }),
    read: async ({ path }: { path: string }) => {
      const text = files.get(path);
      return text === undefined
        ? failed('not_found', `${path} does not exist.`)
        : succeeded({ bytes: Buffer.from(text), unsaved: false });
    },
    list: async () => succeeded([]),
  });
}

/** Everything here is in memory, so that whatever follows from one entry has followed after so many turns of the loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await setImmediate();
}

test('at most 12 are shown, in at most 2,500 tokens; nothing of dist, of the formatter, of equal bytes', async () => {
  server = await startScriptedServer();
  const clock = createManualClock();
  const errors: string[] = [];
  const log = recordingLog(errors);
  const { storage, ids } = memoryWindow(undefined, undefined, { clock });
  const files = new Map(Object.entries(start));
  const workspace = memoryWorkspace(files);
  const touched = new Emitter<FileTouch>((error) => errors.push(String(error)));
  const saved = new Emitter<string>((error) => errors.push(String(error)));
  const ended = new Emitter<EndedCommand>((error) => errors.push(String(error)));
  const none = new Emitter<never>(() => undefined);
  const parts = { clock, log, snapshots: storage.snapshots, workspace };
  const buffers = { unsaved: () => [], onDidChange: saved.event, onDidSave: saved.event, onDidRename: none.event };
  const gate = new GitGate();
  const repository: { deps?: RepositoryDeps; busy?: PromiseWithResolvers<void> } = {};
  earshot = new Earshot({
    ...parts,
    ids,
    store: storage.store,
    frontend: new TestFrontend(),
    tools: [readFileTool, listFilesTool],
    producers: [
      createFilesProducer({
        ...parts,
        gate,
        buffers,
        editorFiles: { onDidTouch: touched.event },
        watch: () =>
          ({
            on: () => undefined,
            add: () => undefined,
            unwatch: () => undefined,
            close: async () => undefined,
          }) as never,
      }),
      createGitProducer({
        ...parts,
        gate,
        find: async () => ({ own: '/shop/.git', shared: '/shop/.git', tree: '/shop' }),
        open: async (deps) => {
          repository.deps = deps;
          return {
            passed: async () => {
              const { busy } = repository;
              await busy?.promise;
              return busy === undefined ? 'free' : 'during';
            },
            dispose: () => undefined,
          };
        },
      }),
      createEditorProducer({ ...parts, buffers }),
      createTerminalsProducer({ ...parts, terminals: { onDidEnd: ended.event } }),
      createConfigProducer(),
    ],
    settings: () => readSettings(() => undefined).settings,
    model: () => model,
  });
  const model = createOpenAiModel({ baseUrl: server.baseUrl, model: 'm', apiKey: async () => 'k' });
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log: conversation } = opened.value;
  const turn = async (...calls: { id: string; name: string; arguments: unknown }[]) => {
    server?.restart({ calls }, { text: ['Done.'] });
    await earshot?.send(conversation.id, 'Go on.');
    await earshot?.settled(conversation.id);
  };
  await turn(...READ.map((path, index) => ({ id: `r${index}`, name: 'read_file', arguments: { path } })));

  const began = clock.now();
  const steps = new Map<string, string>();
  let [step, count] = ['', 0];
  const beginnings = recording.flatMap((entry) =>
    entry.type === 'git' ? [{ at: entry.at - entry.settled.since - 200, type: 'git_begins' as const }] : [],
  );
  const timeline = [...recording, ...beginnings].sort((a, b) => a.at - b.at);
  const listening = conversation.onDidAppend(({ event }) => {
    if (event.type === 'notification_queued') steps.set(event.notification.id, step);
  });
  for (const entry of timeline) {
    clock.advance(Math.max(0, began + entry.at - clock.now()));
    switch (entry.type) {
      case 'step':
        await settle();
        count += 1;
        if (count % STEPS_A_TURN === 0) await turn({ id: `list${count}`, name: 'list_files', arguments: {} });
        step = entry.label;
        break;
      case 'touch':
        if (entry.touch === 'deleted') files.delete(entry.path);
        else if (entry.text !== undefined) files.set(entry.path, entry.text);
        touched.fire({ type: entry.touch, path: entry.path });
        break;
      case 'save':
        saved.fire(entry.path);
        break;
      case 'command':
        ended.fire({ terminal: 'sh', folder: '/shop', ...entry });
        break;
      case 'git_begins':
        repository.busy ??= Promise.withResolvers();
        break;
      case 'git': {
        const { busy } = repository;
        await repository.deps?.settled({ ...entry.settled, since: clock.now() - entry.settled.since });
        delete repository.busy;
        busy?.resolve();
      }
    }
    await settle();
  }
  clock.advance(60_000);
  await settle();
  await turn({ id: 'last', name: 'list_files', arguments: {} });
  listening.dispose();

  const read = await storage.store.read(conversation.id);
  if (!read.ok) throw new Error(read.failure.message);
  const rows = shownIn(read.value.events).map(
    ({ id, kind, message }) => `${steps.get(id) ?? 'a delivery point'} | ${kind} | ${message}`,
  );
  const tokens = carriedIn(read.value.events).reduce((sum, { text }) => sum + estimateTokens(text), 0);
  const table = [
    `${lines.length} entries of ${Math.round((recording.at(-1)?.at ?? 0) / 60_000)} minutes: ${rows.length} shown in ${tokens} tokens`,
    '',
    'what was done | kind | what the model was told first',
    ...rows,
    '',
    ...silences(),
  ].join('\n');
  await expect(`${table}\n`).toMatchFileSnapshot('noise/table.golden.txt');
  expect(errors).toEqual([]);
  expect(rows.length).toBeLessThanOrEqual(12);
  expect(tokens).toBeLessThanOrEqual(2500);
  expect(rows.filter((row) => /dist|node_modules|formatter|without a change/.test(row))).toEqual([]);
});

function carriedIn(events: readonly LogEvent[]) {
  return events.flatMap((event) =>
    event.type === 'chat_request' || event.type === 'tool_call_response' ? (event.notifications ?? []) : [],
  );
}

function shownIn(events: readonly LogEvent[]) {
  const shown = new Set(carriedIn(events).flatMap((carried) => carried.shown));
  return events.flatMap((event) => {
    if (event.type !== 'notification_queued' || !shown.has(event.notification.id)) return [];
    const { id, kind, message } = event.notification;
    return [{ id, kind: `${kind.source}.${kind.name}`, message: message.split('\n')[0] ?? '' }];
  });
}

/** What was recorded of each and led to no word: the reason why. */
function silences(): string[] {
  const touches = recording.filter((entry) => entry.type === 'touch');
  const count = (fits: (path: string) => boolean) => touches.filter(({ path }) => fits(path)).length;
  return [
    'silent | touches | why',
    `dist | ${count((path) => path.startsWith('dist/'))} | .gitignore names it and nobody has read it`,
    `node_modules | ${count((path) => path.startsWith('node_modules/'))} | the same`,
    `files that nobody read | ${count((path) => path.startsWith('src/') && !READ.includes(path))} | counted in one line beside the user's request`,
  ];
}
