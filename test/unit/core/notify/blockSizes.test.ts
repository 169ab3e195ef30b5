// Sizes of typical notification blocks: the golden file has each block with its size and the size of its frame.
import { expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { formatBlock } from '../../../../src/core/agent/delivery.ts';
import { planNotifications } from '../../../../src/core/notify/plan.ts';
import { fileChanged } from '../../../../src/core/notify/wording/fileChange.ts';
import { introducedDraft } from '../../../../src/core/notify/wording/problems.ts';
import { type TaskEnd } from '../../../../src/core/ports/tasks.ts';
import { CommandHandle } from '../../../../src/core/tools/handle.ts';
import { draftHandleNotification } from '../../../../src/core/tools/handleTexts.ts';
import { realIds } from '../../../../src/node/realIds.ts';
import { createTasksProducer } from '../../../../src/producers/tasks/tasks.ts';
import { type FORMATS } from '../../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../../src/protocol/notification.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { defaultSettings } from '../../../support/notify/arbitraryNotifications.ts';
import { createTestHost } from '../../../support/notify/producerHost.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

const AT = '2026-01-01T12:03:04.000Z';
/** Has the length of a real key, and is the same in every run. */
const key = 'k7QdQ8vXw2Lm9ZtY4nBs1A'.slice(0, realIds.key().length);
const bytes = (text: string) => new TextEncoder().encode(text);

interface Moment {
  readonly name: string;
  readonly drafts?: readonly NotificationDraft[];
  /** Milliseconds between the notifications and the delivery. */
  readonly age?: number;
  /** Characters of the whole block, and of everything around its texts. */
  readonly limits: { readonly size?: number; readonly frame?: number };
}

const THREE_LINES = ['export const teas = {', '  assam: 350, darjeeling: 420, oolong: 480, mate:1', '};', ''].join(
  '\n',
);

function changed(path: string, author: 'user' | 'outside'): NotificationDraft {
  const now = THREE_LINES.replace('350', '375');
  return { ...fileChanged(path, bytes(THREE_LINES), { bytes: bytes(now), hash: 'h' }, { type: author }), at: AT };
}

/** The end of a command that printed 500 lines. */
async function handleEnded(code: number): Promise<NotificationDraft> {
  const output = bytes(
    Array.from({ length: 500 }, (_, line) => `compiled src/module${line}.ts in ${line} ms\n`).join(''),
  );
  const never = new Emitter<void>(() => undefined);
  const handle = new CommandHandle({
    conversation: 'c',
    run: 'r',
    process: {
      command: 'npm run build -- --mode production',
      pid: 1,
      shell: undefined,
      startTime: '1',
      status: {
        startedAt: AT,
        inputOpen: false,
        size: output.length,
        kept: 0,
        end: { cause: 'exited', code, signal: null, at: AT, milliseconds: 12_300 },
      },
      onDidChange: never.event,
      read: async (from, limit) => ({ from, bytes: output.subarray(from, from + limit) }),
      write: () => Promise.reject(new Error('unexpected write')),
      stop: () => undefined,
      interrupt: () => undefined,
      dispose: () => never.dispose(),
    },
    clock: createManualClock(Date.parse(AT)),
    report: (error) => expect(error).toBeUndefined(),
    changed: () => undefined,
  });
  const draft = await draftHandleNotification(handle, 'build', AT);
  handle.dispose();
  if (draft === undefined) throw new Error('the end of the handle is not reported');
  return draft;
}

async function taskFailed(): Promise<NotificationDraft> {
  const errors: string[] = [];
  const ended = new Emitter<TaskEnd>((error) => errors.push(String(error)));
  const host = createTestHost();
  host.conversations = ['c'];
  const { promise, resolve } = Promise.withResolvers<NotificationDraft>();
  const producer = createTasksProducer({
    clock: createManualClock(Date.parse(AT)),
    logger: recordingLogger(errors),
    tasks: { onDidEnd: ended.event },
  });
  const publisher = { publish: async (draft: NotificationDraft) => resolve(draft), withdraw: async () => false };
  const watching = producer.start(
    publisher,
    { all: () => [], get: () => undefined, onDidChange: host.changed.event },
    host,
  );
  const task = { name: 'npm: build', background: false };
  ended.fire({ task, goesOn: false, exitCode: 2, milliseconds: 14_200, problems: [] });
  const draft = await promise;
  watching.dispose();
  ended.dispose();
  expect(errors).toEqual([]);
  return draft;
}

function problemIntroduced(): NotificationDraft {
  const problem = {
    severity: 'error',
    source: 'ts',
    code: '2554',
    message: 'Expected 2 arguments, but got 1.',
    line: 4,
    column: 1,
  } as const;
  return {
    ...introducedDraft('src/main.ts', { introduced: [problem], resolved: [], left: 1, sure: true }),
    at: AT,
  };
}

async function moments(): Promise<Moment[]> {
  const sixty = Array.from({ length: 60 }, (_, index) => changed(`src/module${index}/index.ts`, 'outside'));
  return [
    { name: 'changed three-line file', drafts: [changed('src/menu.ts', 'outside')], limits: { size: 300, frame: 105 } },
    { name: 'the same, by the user', drafts: [changed('src/menu.ts', 'user')], limits: { size: 310, frame: 105 } },
    { name: 'background command ended', drafts: [await handleEnded(0)], limits: { size: 900, frame: 105 } },
    { name: 'background command failed', drafts: [await handleEnded(1)], limits: { size: 900, frame: 105 } },
    { name: 'the same, two days later', drafts: [await handleEnded(1)], age: 172_800_000, limits: { size: 900 } },
    { name: 'task failed', drafts: [await taskFailed()], limits: { size: 200, frame: 105 } },
    { name: 'problem introduced', drafts: [problemIntroduced()], limits: { size: 220, frame: 115 } },
    { name: '60 changed files', drafts: sixty, limits: { size: 4000, frame: 125 } },
  ];
}

function formatMoment(
  { drafts = [], age = 5000 }: Moment,
  format: (typeof FORMATS)[number],
): { block: string; frame: number } {
  const pending = drafts.map((draft, index) => ({ ...draft, id: `id${String(index).padStart(5, '0')}` }));
  const plan = planNotifications({ pending, settings: defaultSettings, contextWindow: 128_000, measure: () => 0 });
  const block = formatBlock(format, { plan, key, now: Date.parse(AT) + age });
  const said = plan.entries.map(({ message }) => message);
  return { block, frame: block.length - said.reduce((sum, text) => sum + text.length, 0) };
}

test('typical blocks stay within their size limits and equal the golden file', async () => {
  const all = await moments();
  const rows = all.map((moment) => ({
    ...moment,
    xml: formatMoment(moment, 'xml'),
    markdown: formatMoment(moment, 'markdown'),
    developer: formatMoment(moment, 'developer'),
  }));
  const table = rows.map(({ name, xml, markdown, developer }) =>
    [
      name.padEnd(30),
      ...[xml, markdown, developer].flatMap(({ block, frame }) =>
        [block.length, frame].map((size) => String(size).padStart(11)),
      ),
    ].join(''),
  );
  const head = `${'characters'.padEnd(30)}${['xml', 'frame', 'markdown', 'frame', 'developer', 'frame'].map((word) => word.padStart(11)).join('')}`;
  const blocks = rows.flatMap(({ name, xml, markdown, developer }) => [
    '',
    `# ${name}`,
    xml.block,
    '',
    markdown.block,
    '',
    developer.block,
  ]);
  await expect([head, ...table, ...blocks, ''].join('\n')).toMatchFileSnapshot('./blockSizes.golden.txt');
  const over = rows.flatMap(({ name, xml, limits }) =>
    xml.block.length > (limits.size ?? Infinity) || xml.frame > (limits.frame ?? Infinity) ? [name] : [],
  );
  expect(over).toEqual([]);
});
