// Results of the steps of `npm test`, read from the reports of the tools.
import { stripVTControlCharacters } from 'node:util';
import { UserError } from '../console/errors.mjs';

interface Failure {
  readonly title: string;
  readonly message: string;
}

export interface StepResult {
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** Lines to print after the step: why tests were skipped. */
  readonly notes?: readonly string[];
}

export const onePassed: StepResult = { passed: 1, skipped: 0, failures: [] };

export function oneFailed(title: string, message: string): StepResult {
  return { passed: 0, skipped: 0, failures: [{ title, message: stripVTControlCharacters(message).trim() }] };
}

/** A step in which no test ran counts as failed. */
export function requireTests(result: StepResult, title: string): StepResult {
  if (result.passed + result.skipped + result.failures.length > 0) return result;
  return oneFailed(title, 'No test ran.');
}

interface VitestReport {
  readonly success: boolean;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** Reads the report of vitest's JSON reporter. */
export function readVitestReport(text: string, relativeTo: string): StepResult {
  const report = JSON.parse(text) as VitestReport;
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const failedTests = report.testResults.flatMap((file) =>
    file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => ({
        title: `${shortPath(file.name, relativeTo)} › ${fullName}`,
        message: stripVTControlCharacters((failureMessages ?? []).join('\n')),
      })),
  );
  // A file that failed to load, or whose hooks failed, has a message but perhaps no failed test.
  const failedFiles = report.testResults
    .filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    )
    .map(({ name, message }) => ({ title: shortPath(name, relativeTo), message: stripVTControlCharacters(message) }));
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    skipped: tests.filter(({ status }) => status !== 'passed' && status !== 'failed').length,
    failures: [...failedTests, ...failedFiles],
  };
}

interface MochaReport {
  readonly passed: number;
  readonly skipped?: number;
  readonly failures: readonly Failure[];
}

/** Reads the report of the suites in the extension host. */
export function readMochaReport(text: string): StepResult {
  const { passed, skipped = 0, failures } = JSON.parse(text) as MochaReport;
  return {
    passed,
    skipped,
    failures: failures.map(({ title, message }) => ({ title, message: stripVTControlCharacters(message) })),
  };
}

function shortPath(path: string, relativeTo: string): string {
  return path.startsWith(relativeTo) ? path.slice(relativeTo.length + 1) : path;
}

export function countLine(results: readonly StepResult[]): string {
  const sum = (count: (result: StepResult) => number) => results.reduce((total, result) => total + count(result), 0);
  const skipped = sum((result) => result.skipped);
  const text = `${sum((result) => result.passed)} passed, ${sum((result) => result.failures.length)} failed`;
  return skipped === 0 ? text : `${text}, ${skipped} skipped`;
}

export function failedToRun(error: unknown, title: string): StepResult {
  if (!(error instanceof UserError)) throw error;
  return oneFailed(
    title,
    [error.message, error.details, `→ ${error.nextStep}`].filter((line) => line !== '').join('\n'),
  );
}
