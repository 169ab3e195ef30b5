// Plays an hour to Earshot: the recorded facts of the editor, facts of other sources, and messages of the user at an interval.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type ConversationLog } from '../../src/core/conversation/log.ts';
import { Earshot } from '../../src/core/earshot.ts';
import { type Clock, type Logger, type Model, type Producer } from '../../src/core/ports/ports.ts';
import { type Workspace } from '../../src/core/ports/workspace.ts';
import { type Notification } from '../../src/protocol/notification.ts';
import { nameInScope } from '../../src/protocol/scopes.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { listFilesTool } from '../../src/tools/files/listFiles.ts';
import { readFileTool } from '../../src/tools/files/readFile.ts';
import { atTestEnd } from '../support/endings.ts';
import { memoryWindow } from '../support/log/memoryStorage.ts';
import { createManualClock, type ManualClock } from '../support/manualClock.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { bareServices } from '../support/walk/bareServices.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';
import { partsOf, type SentRequest } from './cost.ts';
import { READ, type Recorded } from './recorded.ts';
import { Replay } from './replay.ts';
import { type Delivered, type Step } from './table.ts';

const [first = '', ...lines] = readFileSync(join(import.meta.dirname, 'recording.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');
const { start } = JSON.parse(first) as { start: Record<string, string> };
export const recording = lines.map((line) => JSON.parse(line) as Recorded);

export interface EarParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workspace: Workspace;
}

/** Sources besides the editor's, and what they notice: milliseconds since the beginning. */
export interface Ears {
  /** Files besides those of the recording. */
  readonly files: Readonly<Record<string, string>>;
  /** Files that the conversation reads first, besides those of the recording. */
  readonly read: readonly string[];
  producers(parts: EarParts): readonly Producer[];
  readonly facts: readonly { readonly at: number; happens(log: ConversationLog): Promise<void> | void }[];
}

interface HourOptions {
  /** Minutes between two messages of the user. */
  readonly minutes: number;
  /** The model then reads the files again of which it is notified; otherwise it only lists files. */
  readonly readsAgain?: boolean;
  /** Absent: the recorded ones. */
  readonly recorded?: readonly Recorded[];
  readonly ears?: Ears;
}

/** Everything is in memory, so all consequences of an entry happen within a few turns of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

/**
 * Advances in small steps while timers are pending, because the consequences of one moment may have to happen before
 * the next.
 */
async function pass(clock: ManualClock, until: number): Promise<void> {
  while (clock.now() < until) {
    if (clock.waiting === 0) clock.advance(until - clock.now());
    else {
      clock.advance(Math.min(100, until - clock.now()));
      await settle();
    }
  }
}

export async function playHour({
  minutes,
  readsAgain = false,
  recorded = recording,
  ears,
}: HourOptions): Promise<Delivered & { readonly sent: readonly SentRequest[] }> {
  const clock = createManualClock();
  const errors: string[] = [];
  const log = recordingLogger(errors);
  const { storage, ids } = memoryWindow(undefined, undefined, { clock });
  const parts = { clock, logger: log, snapshots: storage.snapshots };
  const editor = new Replay(parts, { ...start, ...ears?.files });
  // The model runs in this process: network requests, such as the one for a title, take real time while the clock runs
  // ahead.
  const scripted = createScriptedModel();
  const sent: SentRequest[] = [];
  const model: Model = {
    ...scripted,
    stream: (request, signal) => {
      sent.push({ at: clock.now(), parts: partsOf(request) });
      return scripted.stream(request, signal);
    },
  };
  const { workspace, producers, problems } = editor;
  const running = new Earshot({
    ...bareServices(parts),
    ...parts,
    ids,
    workspace,
    producers: [...producers, ...(ears?.producers({ ...parts, workspace }) ?? [])],
    problems,
    store: storage.store,
    frontend: new TestFrontend(),
    tools: [readFileTool, listFilesTool],
    settings: () => readSettings(() => undefined).settings,
    model: () => model,
  });
  atTestEnd(() => running.shutDown());
  const opened = await running.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log: conversation } = opened.value;
  let step: Step = { label: '', at: 0 };
  const turn = async (...calls: { id: string; name: string; arguments: object }[]) => {
    scripted.script({ calls });
    await running.send(conversation.id, 'Go on.');
    await running.settled(conversation.id);
  };
  await turn(
    ...[...READ, ...(ears?.read ?? [])].map((path, index) => ({
      id: `r${index}`,
      name: 'read_file',
      arguments: { path },
    })),
  );
  const steps = new Map<string, Step>();
  const listening = conversation.onDidAppend(({ event }) => {
    if (event.type === 'notification_queued') steps.set(event.notification.id, step);
  });
  const began = clock.now();
  let asked = 0;
  const askUntil = async (at: number) => {
    for (; (asked + 1) * minutes * 60_000 <= at; asked += 1) {
      const due = (asked + 1) * minutes * 60_000;
      await pass(clock, began + due);
      const before = step;
      step = { label: 'the user writes', at: due };
      const outdated = readsAgain ? conversation.state.pending.notifications.flatMap(filesOf) : [];
      const calls = [...new Set(outdated)].map((path, index) => ({
        ...{ id: `again${asked}-${index}`, name: 'read_file', arguments: { path } },
      }));
      await turn({ id: `list${asked}`, name: 'list_files', arguments: {} }, ...calls);
      step = before;
    }
  };
  const facts = [...recorded, ...(ears?.facts ?? [])].sort((a, b) => a.at - b.at);
  for (const entry of facts) {
    await askUntil(entry.at);
    await pass(clock, began + entry.at);
    if ('happens' in entry) await entry.happens(conversation);
    else {
      if (entry.type === 'step') step = entry;
      editor.play(entry);
    }
    await settle();
  }
  await askUntil(60 * 60_000);
  listening.dispose();
  const read = await storage.store.read(conversation.id);
  if (!read.ok) throw new Error(read.failure.message);
  await running.shutDown();
  editor.dispose();
  return { minutes, steps, events: read.value.events, errors, sent };
}

/** The files that a notification is about. */
function filesOf({ subject = '', data }: Notification): readonly string[] {
  const path = nameInScope('file', subject);
  if (path !== undefined) return [path];
  const files = data?.['files'];
  return Array.isArray(files) ? files.map((one: { readonly path: string }) => one.path) : [];
}
