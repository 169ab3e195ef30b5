// Growth cases: reports of test runs, messages of dev servers and of debuggers.
import { draftEnd } from '../../../src/producers/debug/debugReports.ts';
import { LOCK_FILES, readLockFile } from '../../../src/producers/dependencies/lockFiles.ts';
import { serverKindOf } from '../../../src/producers/devServers/serverMessages.ts';
import { readTestReport } from '../../../src/producers/testReports/testRun.ts';
import { type GrowthCases, over } from './cases.ts';

const runtime: GrowthCases = {
  ...over('readTestReport', (text) => readTestReport(`<testsuite>${text}</testsuite>`), [
    '<testcase name="a"><failure message="b">c</failure></testcase>',
    '<testcase name="a"',
    '<a b="',
    "<a '",
    '<!--',
    '<![CDATA[',
    '<!DOCTYPE ',
    '<',
    '</',
    '&amp;',
    'a=',
    ' ',
  ]),
  ...over('readTestReport of one tag', (text) => readTestReport(`<testsuite><testcase ${text}/></testsuite>`), [
    'a="b" ',
    'a',
    'a = ',
    "name='",
  ]),
  ...over('readLockFile', (text) => LOCK_FILES.map((name) => readLockFile(name, text)), [
    '  a@1:\n',
    'a@',
    '  version "1"\n',
    '    "a": ["a@1"',
    'name = "a"\nversion = "1"\n',
    ' ',
    '\n',
  ]),
  ...over('serverKindOf', (text) => serverKindOf([text]), ['vite ', '/', ' ', 'a']),
  ...over('draftEnd', (text) => draftEnd({ program: 'p', exitCode: 1, printed: text }), [
    '    at a (node_modules/b)\n',
    'at ',
    ' ',
    '--- await ---',
    '\n',
  ]),
};

export const runtimeCases = { runtime };
