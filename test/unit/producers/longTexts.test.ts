// Long texts of other programs: a source masks and keeps a bounded part of them, so that they do not stall the editor.
import { expect, test } from 'vitest';
import { maskSecrets } from '../../../src/base/secrets/maskSecrets.ts';
import { createNotebooksProducer } from '../../../src/producers/notebooks.ts';
import { readLockFile } from '../../../src/producers/dependencies/lockFiles.ts';
import { type CommitReport, draftCiFailed, draftReviews } from '../../../src/producers/forge/forgeReports.ts';
import { lastLinesOf } from '../../../src/producers/forge/failureLog.ts';
import { readRemotes } from '../../../src/producers/forge/remotes.ts';
import { readTestReport } from '../../../src/producers/testReports/testRun.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { createTestHost } from '../../support/notify/producerHost.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

const UNIT = 'a b ';
const LONG = UNIT.repeat(250_000);
const QUARTER = UNIT.repeat(62_500);

const commit = {
  repository: 'r',
  sha: '3f2a91c',
  title: 'fix',
  at: '2026-01-01T00:00:00Z',
  branch: 'main',
  by: 'pushed',
};
const report = { commit, conversation: 'c', now: 0 } as unknown as CommitReport;
const check = { name: 'build', state: 'failed', seconds: 1 } as never;

async function failedCell(): Promise<NotificationDraft[]> {
  const published: NotificationDraft[] = [];
  let run: ((run: { path: string; cell: number; error: { name: string; message: string } }) => void) | undefined;
  const reported = Promise.withResolvers<void>();
  const running = createNotebooksProducer({
    notebooks: { onDidRun: (listener) => ((run = listener), { dispose: () => undefined }) },
    workspace: {
      resolve: async (path) => ({ ok: true, value: { path, absolute: `/shop/${path}` } }),
      mayShow: async () => true,
    },
    clock: createManualClock(),
    logger: recordingLogger([]),
  }).start(
    {
      publish: async (draft) => {
        published.push(draft);
        reported.resolve();
      },
      withdraw: async () => false,
    },
    { all: () => [], get: () => undefined, onDidChange: () => ({ dispose: () => undefined }) },
    createTestHost(),
  );
  run?.({ path: 'a.ipynb', cell: 1, error: { name: 'ValueError', message: LONG } });
  await reported.promise;
  running.dispose();
  return published;
}

function processorTime(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

test.each<readonly [string, () => unknown]>([
  ['the error of a cell', failedCell],
  ['the line of a CI log', () => lastLinesOf(LONG)],
  [
    'a comment',
    () =>
      draftReviews(report, { number: 1, url: 'u' } as never, [{ author: 'a', what: 'commented', text: LONG } as never]),
  ],
  [
    'an annotation',
    () =>
      draftCiFailed(report, [check], [[check, { lines: [], annotations: [{ path: 'p', line: 1, text: LONG }] }]], 'r'),
  ],
])('%s of 1 MB takes less processor time than masking 250 KB', async (_, work) => {
  const control = process.cpuUsage();
  maskSecrets(QUARTER);
  const limit = processorTime(control);
  const began = process.cpuUsage();
  await work();
  expect(processorTime(began)).toBeLessThan(limit);
});

test('of what a failed test says only the beginning is kept', () => {
  const results = [{ assertionResults: [{ fullName: 'pours', status: 'failed', failureMessages: [LONG] }] }];
  const file = { assertionResults: [], status: 'failed', name: 'tea.test.ts', message: LONG };
  const run = readTestReport(JSON.stringify({ testResults: [...results, file] }));
  expect([...(run ?? [])].map(([name, failure]) => [name, failure?.length])).toEqual([
    ['pours', 10_000],
    ['tea.test.ts', 10_000],
  ]);
});

test('a lock file of blank lines is read to a bounded number of lines', () => {
  const entry = 'kettle@^2.0.0:\n  version "2.0.0"\n';
  expect(readLockFile('yarn.lock', '\n'.repeat(400_000) + entry).size).toBe(1);
  expect(readLockFile('yarn.lock', '\n'.repeat(600_000) + entry).size).toBe(0);
});

test('of a thousand remotes of a repository twenty are followed', () => {
  const config = Array.from(
    { length: 1000 },
    (_, index) => `[remote "r${index}"]\n\turl = git@github.com:a/b${index}.git\n`,
  );
  expect(readRemotes(config.join('')).map(({ name }) => name)).toEqual(
    Array.from({ length: 20 }, (_, index) => `r${index}`),
  );
});
