// Results and selection of the steps of `npm test`.
import { expect, test } from 'vitest';
import {
  countLine,
  oneFailed,
  onePassed,
  readMochaReport,
  readVitestReport,
  requireTests,
} from '../../host/steps/stepResult.ts';
import { readTestSelection, stepsLeftOut, testEnvironment } from '../../host/steps/testSelection.mjs';

const assertion = (fullName: string, status: string, failureMessages: string[] = []) => ({
  fullName,
  status,
  failureMessages,
});

test('a vitest report gives the number of tests and the failures, including files that failed to load', () => {
  const report = {
    success: false,
    testResults: [
      {
        name: '/r/a.test.ts',
        status: 'failed',
        message: '',
        assertionResults: [
          assertion('good', 'passed'),
          assertion('bad', 'failed', ['\u001b[31mwhy\u001b[0m']),
          assertion('later', 'skipped'),
        ],
      },
      { name: '/r/b.test.ts', status: 'failed', message: 'cannot be loaded', assertionResults: [] },
    ],
  };
  expect(readVitestReport(JSON.stringify(report), '/r')).toEqual({
    passed: 1,
    skipped: 1,
    failures: [
      { title: 'a.test.ts › bad', message: 'why' },
      { title: 'b.test.ts', message: 'cannot be loaded' },
    ],
  });
});

test('a report of the VS Code suites gives the number of tests and the failures', () => {
  const failure = { title: 'a', message: 'b' };
  expect(readMochaReport(JSON.stringify({ passed: 3, failed: 1, failures: [failure] }))).toEqual({
    passed: 3,
    skipped: 0,
    failures: [failure],
  });
});

test('a step that ran no test has failed', () => {
  const nothing = { passed: 0, skipped: 0, failures: [] };
  expect(requireTests(nothing, 'Unit')).toEqual(oneFailed('Unit', 'No test ran.'));
  expect(requireTests(onePassed, 'Unit')).toBe(onePassed);
});

test('the last line has the totals of all steps', () => {
  expect(countLine([onePassed, oneFailed('a', 'b'), onePassed])).toBe('2 passed, 1 failed');
  expect(countLine([{ passed: 0, skipped: 2, failures: [] }])).toBe('0 passed, 0 failed, 2 skipped');
});

test('the words on the command line select the steps', () => {
  const onLinux = (args: readonly string[]) => readTestSelection(args, 'linux');
  const checks = ['types', 'lint', 'format', 'unused', 'build'];
  const editors = ['vscode', 'notifications', 'browser', 'alone', 'installed'];
  expect(onLinux([])).toEqual([...checks, 'unit', 'posix', 'windows', ...editors]);
  expect(readTestSelection(['windows', 'posix'])).toEqual(['posix', 'windows']);
  expect(readTestSelection(['vscode'])).toEqual(['build', 'vscode', 'notifications']);
  expect(readTestSelection(['browser', 'unit'])).toEqual(['build', 'unit', 'browser', 'alone']);
  expect(readTestSelection(['installed'])).toEqual(['installed']);
  expect(onLinux(['full'])).toEqual(onLinux([]));
  expect([testEnvironment(['full']), testEnvironment([])]).toEqual([{ EARSHOT_TEST_FULL: '1' }, {}]);
  expect(readTestSelection(['electron'])).toEqual(['build', 'electron']);
  expect(() => readTestSelection(['constructor'])).toThrow('There is no test suite “constructor”.');
});

test.each([
  ['darwin', 'posix', 'windows'],
  ['win32', 'windows', 'posix'],
] as const)(
  'on %s everything is what can run there, with the tests of %s, and the rest is named',
  (platform, own, other) => {
    const steps = ['types', 'lint', 'format', 'unused', 'build', 'unit', own, 'electron'];
    const leftOut = [other, 'vscode', 'notifications', 'browser', 'alone', 'installed'];
    expect(readTestSelection([], platform)).toEqual(steps);
    expect(readTestSelection(['full'], platform)).toEqual(steps);
    expect(stepsLeftOut([], platform).map(({ step }) => step)).toEqual(leftOut);
    expect(stepsLeftOut(['full', other], platform).map(({ step }) => step)).toEqual(leftOut.slice(1));
    // What is named runs, also here.
    expect(readTestSelection([other], platform)).toEqual([other]);
    expect(stepsLeftOut([other], platform)).toEqual([]);
    expect([stepsLeftOut([], 'linux'), stepsLeftOut(['full'], 'linux')]).toEqual([[], []]);
  },
);
