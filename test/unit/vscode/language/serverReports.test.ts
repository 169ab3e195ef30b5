// Waiting for the reports of language servers before quick fixes are listed.
import { expect, test } from 'vitest';
import { Emitter } from '../../../../src/base/emitter.ts';
import { type ProblemsChange } from '../../../../src/core/ports/problems.ts';
import { ServerReports } from '../../../../src/vscode/language/serverReports.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const file = { path: 'menu.ts', absolute: '/shop/menu.ts' };

function createReports() {
  const clock = createManualClock();
  const changes = new Emitter<ProblemsChange>((error) => {
    throw error;
  });
  const reports = new ServerReports({ clock, problems: { onDidChange: changes.event } });
  atTestEnd(async () => {
    reports.dispose();
    changes.dispose();
  });
  return { clock, reports, report: () => changes.fire({ type: 'reported', files: [file] }) };
}

test('two parallel calls for one file both end with its report', async () => {
  const { clock, reports, report } = createReports();
  const { signal } = new AbortController();
  const both = [reports.until(file, 'typescript', signal), reports.until(file, 'typescript', signal)];
  report();
  expect(clock.waiting).toBe(0);
  await Promise.all(both);
});

test('an aborted call does not end another one for the same file', async () => {
  const { clock, reports, report } = createReports();
  const aborted = new AbortController();
  const first = reports.until(file, 'typescript', aborted.signal);
  const second = reports.until(file, 'typescript', new AbortController().signal);
  aborted.abort();
  await first;
  expect(clock.waiting).toBe(1);
  report();
  expect(clock.waiting).toBe(0);
  await second;
});

test('a call that was aborted does not count as a file without reports', async () => {
  const { clock, reports, report } = createReports();
  const aborted = new AbortController();
  const first = reports.until(file, 'typescript', aborted.signal);
  aborted.abort();
  await first;
  const second = reports.until(file, 'typescript', new AbortController().signal);
  expect(clock.waiting).toBe(1);
  report();
  await second;
});
