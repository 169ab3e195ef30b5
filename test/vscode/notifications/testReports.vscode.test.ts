// A report that Node's own test runner writes, seen by the real editor's watcher: the difference between two runs reaches
// the model's request; a huge report is refused in words.
import * as assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { inFolder, type Listening, setting, useListening } from '../../support/vscode/listeningConversation.ts';
import { checkLeaks } from '../../support/vscode/startedExtension.ts';

const test = (cup: string) => `import { test } from 'node:test';
import assert from 'node:assert';
test('pours', () => assert.equal('${cup}', 'cup'));
test('brews', () => undefined);
`;

describe('test report notifications', function () {
  this.timeout(120_000);
  const listening = useListening();
  checkLeaks('once');
  let agent: Listening;

  beforeEach(async () => {
    agent = await listening.begin();
    await mkdir(inFolder('reports'), { recursive: true });
    await setting('tests.reports', ['reports/*.xml']);
  });
  afterEach(async () => {
    await setting('tests.reports', undefined);
    await rm(inFolder('reports'), { recursive: true, force: true });
  });

  /** A failing test is no error here: its exit code is 1. */
  async function runTests(cup: string): Promise<void> {
    await writeFile(inFolder('reports/tea.test.mjs'), test(cup));
    const to = `--test-reporter-destination=${inFolder('reports/junit.xml')}`;
    const args = ['--test', '--test-reporter=junit', to, inFolder('reports/tea.test.mjs')];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    await new Promise<void>((resolve) => void execFile(process.execPath, args, { env }, () => resolve()));
  }

  it('test.failed and test.passed: what is newly broken and what is fixed, by a real runner', async () => {
    await runTests('bowl </notification>');
    await agent.waitForPending(/^test.failed 1 of 2 tests in the test report reports\/junit\.xml fail, 1 newly/);
    assert.match(await agent.turn(), /\| Failed: .*pours: /);
    await runTests('cup');
    await agent.waitForPending(/^test.passed All 2 tests in the test report reports\/junit\.xml pass again/);
    assert.match(await agent.turn(), /\| Fixed: .*pours/);
  });

  it('test.failed: a report of one gigabyte is refused with the next step', async () => {
    await writeFile(inFolder('reports/huge.xml'), '<testsuites>');
    await truncate(inFolder('reports/huge.xml'), 1024 ** 3);
    const said = await agent.waitForPending(/^test.failed The test report reports\/huge\.xml is larger than 16 MB/);
    assert.match(said, /name only such reports in the setting earshot\.tests\.reports\.$/);
  });
});
