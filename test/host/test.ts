// Runs the steps of `npm test` in parallel lanes, whether or not other steps fail, and counts the results.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { indent } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';
import { createReporter } from './console/report.mjs';
import { repository } from './setup.mjs';
import { countLine, failedToRun, oneFailed, type StepResult } from './steps/stepResult.ts';
import { readTestSelection, type Step, stepsLeftOut, testEnvironment } from './steps/testSelection.mjs';
import { testSteps } from './steps/testSteps.ts';

const report = createReporter();
const shownMessageLines = 40;
/** With more failures than this, a slow machine is not the cause, and nothing is repeated. */
const mostRepeated = 6;
/** An editor computes only a third of the time, so four run at once, together with the steps that only compute. */
const editorLanes = 4;
/** The longest step first: a lane that has finished a step takes the next one. */
const editors: readonly Step[] = ['browser', 'alone', 'vscode', 'notifications', 'installed', 'windows', 'electron'];
/**
 * Unit tests wait for processes and sockets half of the time, so they run next to the editors; checks fill both cores.
 */
const computed: readonly Step[] = ['unit', 'posix', 'types', 'lint', 'format', 'unused'];
/** The steps `installed` and `windows` make their own builds. */
const needBuild: readonly Step[] = editors.filter((step) => step !== 'installed' && step !== 'windows');

await runToExit(test, { stoppedMessage: 'The tests were stopped.' });

async function test(): Promise<number> {
  const args = process.argv.slice(2);
  const steps = readTestSelection(args);
  for (const { step, why } of stepsLeftOut(args))
    report.line(`${testSteps[step].label}: left out on ${process.platform}: ${why}.`);
  Object.assign(process.env, testEnvironment(args));
  await mkdir(join(repository, '.build', 'test'), { recursive: true });
  const build = steps.includes('build') ? runStep('build', true) : undefined;
  const chosen = (some: readonly Step[]) => some.filter((step) => steps.includes(step));
  const shared = chosen(editors);
  const lanes = [...Array.from({ length: editorLanes }, () => shared), chosen(computed)];
  const finished = (await Promise.all(lanes.map((lane) => runLane(lane, build)))).flat();
  const results = build === undefined ? [] : [await build];
  for (const { step, result } of finished) results.push(await repeatFailed(step, result));
  report.line(countLine(results));
  return results.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

interface Finished {
  readonly step: Step;
  readonly result: StepResult;
}

/**
 * Repeats a few failed tests once all lanes have ended: next to other steps an editor or a watcher may be too slow for
 * the time limits. A test that fails again has failed; one that passes is named, so that it can be investigated.
 */
async function repeatFailed(step: Step, result: StepResult): Promise<StepResult> {
  const { label, repeat } = testSteps[step];
  const titles = result.failures.map(({ title }) => title).filter((title) => title !== label);
  if (repeat === undefined || titles.length === 0 || titles.length > mostRepeated) return result;
  if (titles.length < result.failures.length) return result;
  const again = await report.step(
    `${label}, alone`,
    async (say) => {
      say('running');
      return repeat(titles).catch((error: unknown) => failedToRun(error, label));
    },
    (repeated) => ({ passed: repeated.failures.length === 0, text: countLine([repeated]) }),
  );
  if (again.failures.length > 0) {
    printFailures(label, again);
    return { ...again, passed: result.passed };
  }
  report.line(indent(`Passed alone, after failing in parallel with other steps:\n${titles.join('\n')}`));
  return { ...result, passed: result.passed + titles.length, failures: [] };
}

/** Takes steps from the list, which lanes may share, until none is left. */
async function runLane(steps: Step[], build: Promise<StepResult> | undefined): Promise<Finished[]> {
  const results: Finished[] = [];
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const built = !needBuild.includes(step) || (await build)?.failures.length === 0;
    results.push({ step, result: await runStep(step, built) });
  }
  return results;
}

async function runStep(step: Step, built: boolean): Promise<StepResult> {
  const { label, run } = testSteps[step];
  const result = await report.step(
    label,
    async (say) => {
      say('running');
      if (!built && needBuild.includes(step)) return oneFailed(label, 'Not run: the build failed.');
      return run().catch((error: unknown) => failedToRun(error, label));
    },
    (finished) => ({ passed: finished.failures.length === 0, text: isCounted(step) ? countLine([finished]) : '' }),
  );
  printFailures(label, result);
  for (const note of result.notes ?? []) report.line(indent(note));
  return result;
}

function printFailures(label: string, { failures }: StepResult): void {
  for (const { title, message } of failures)
    report.line(indent(title === label ? shorten(message) : `✗ ${title}\n${indent(shorten(message))}`));
}

function isCounted(step: Step): boolean {
  return step === 'unit' || step === 'posix' || editors.includes(step);
}

function shorten(message: string): string {
  // Stack frames of the test runner are of no use.
  const lines = message.split('\n').filter((line) => !/^\s+at .*(node_modules|node:internal|<anonymous>)/.test(line));
  if (lines.length <= shownMessageLines) return lines.join('\n');
  return [...lines.slice(0, shownMessageLines), `… ${lines.length - shownMessageLines} more lines`].join('\n');
}
