// Replays an hour of ordinary work recorded in the editor, and checks which notifications the model gets, with the
// reason for each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { Earshot } from '../../src/core/earshot.ts';
import { type Model } from '../../src/core/ports/ports.ts';
import { readSettings } from '../../src/protocol/settings.ts';
import { listFilesTool } from '../../src/tools/files/listFiles.ts';
import { readFileTool } from '../../src/tools/files/readFile.ts';
import { costsOf, partsOf, type SentRequest } from '../noise/cost.ts';
import { READ, type Recorded } from '../noise/recorded.ts';
import { Replay } from '../noise/replay.ts';
import { printTable, type Step, shownIn, type Delivered, tokensIn } from '../noise/table.ts';
import { memoryWindow } from '../support/log/memoryStorage.ts';
import { createManualClock, type ManualClock } from '../support/manualClock.ts';
import { createScriptedModel } from '../support/models/scriptedModel.ts';
import { recordingLogger } from '../support/recordingLogger.ts';
import { TestFrontend } from '../support/walk/testFrontend.ts';

const [first = '', ...lines] = readFileSync(join(import.meta.dirname, '../noise/recording.jsonl'), 'utf8')
  .trimEnd()
  .split('\n');
const { start } = JSON.parse(first) as { start: Record<string, string> };
/** The intervals of the user's messages, with which notifications are delivered. The table shows the first interval. */
const MINUTES = [10, 20, 60];
/** Shorter intervals deliver more, such as a failed build and its fix. Their results are printed but not limited. */
const OFTEN = [5, 2];
const recording = lines.map((line) => JSON.parse(line) as Recorded);

let earshot: Earshot | undefined;
afterEach(() => earshot?.shutDown());

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

/** Replays the recording with a message of the user at this interval. */
async function replay(minutes: number): Promise<Delivered & { readonly sent: readonly SentRequest[] }> {
  const clock = createManualClock();
  const errors: string[] = [];
  const log = recordingLogger(errors);
  const { storage, ids } = memoryWindow(undefined, undefined, { clock });
  const parts = { clock, logger: log, snapshots: storage.snapshots };
  const editor = new Replay(parts, start);
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
    ...parts,
    ids,
    workspace,
    producers,
    problems,
    store: storage.store,
    frontend: new TestFrontend(),
    tools: [readFileTool, listFilesTool],
    settings: () => readSettings(() => undefined).settings,
    model: () => model,
  });
  earshot = running;
  const opened = await running.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log: conversation } = opened.value;
  let step: Step = { label: '', at: 0 };
  const turn = async (...calls: { id: string; name: string; arguments: object }[]) => {
    scripted.script({ calls });
    await running.send(conversation.id, 'Go on.');
    await running.settled(conversation.id);
  };
  await turn(...READ.map((path, index) => ({ id: `r${index}`, name: 'read_file', arguments: { path } })));
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
      await turn({ id: `list${asked}`, name: 'list_files', arguments: {} });
      step = before;
    }
  };
  for (const entry of recording) {
    await askUntil(entry.at);
    await pass(clock, began + entry.at);
    if (entry.type === 'step') step = entry;
    editor.play(entry);
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

test('at most 12 notifications in 2,500 tokens are shown, none about dist, the formatter or equal bytes', async () => {
  const all: Awaited<ReturnType<typeof replay>>[] = [];
  for (const minutes of [...MINUTES, ...OFTEN]) all.push(await replay(minutes));
  const [first] = all;
  if (first === undefined) throw new Error('nothing was replayed');
  const table = printTable(recording, first, [
    `${recording.length} facts of an hour in the editor.`,
    ...all.map(
      ({ events, minutes }) =>
        `The user writes every ${minutes} minutes: ${shownIn(events).length} shown in ${tokensIn(events)} tokens.`,
    ),
  ]);
  await expect(table).toMatchFileSnapshot('noise/table.golden.txt');
  expect(table).not.toContain('NO REASON');
  for (const { events, minutes, steps, errors } of all) {
    expect(errors).toEqual([]);
    const rows = shownIn(events).map(
      ({ id, message }) => `${steps.get(id)?.label ?? ''} | ${message.split('\n')[0] ?? ''}`,
    );
    expect(rows.filter((row) => /dist\/|node_modules|formatter|equal bytes/.test(row))).toEqual([]);
    if (OFTEN.includes(minutes)) continue;
    expect(rows.length).toBeLessThanOrEqual(12);
    expect(tokensIn(events)).toBeLessThanOrEqual(2500);
  }
});

test('the vendors’ caches make the hour of a user who writes every two minutes at least five times cheaper', async () => {
  const { sent } = await replay(2);
  for (const { model, cached, uncached } of costsOf(sent)) {
    const dollars = `${cached.toFixed(3)} dollars with the cache, ${uncached.toFixed(3)} without`;
    process.stdout.write(`${model}: ${sent.length} requests of the hour cost ${dollars}.\n`);
    expect(cached).toBeGreaterThan(0);
    expect(uncached / cached, dollars).toBeGreaterThan(5);
  }
});
