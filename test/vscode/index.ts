// Runs the selected suites inside the extension host and writes the results for the runner.
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

interface Failure {
  title: string;
  message: string;
}

/** The suites run in two editors: those about notifications take as long as all others. */
function partOf(file: string): 'notifications' | 'others' {
  return file.startsWith('notifications/') ? 'notifications' : 'others';
}

/** Called by VS Code; a rejection means that the run failed. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 180_000, reporter: 'spec', color: true });
  mocha.suite.emit('pre-require', globalThis, 'earshot', mocha);
  // Runs only tests whose title matches this expression.
  const only = process.env['EARSHOT_TEST_ONLY'];
  if (only !== undefined) mocha.grep(new RegExp(only));
  const part = process.env['EARSHOT_TEST_PART'];
  const { suites } = await import('earshot:suites');
  for (const [file, load] of Object.entries(suites)) {
    if (part === undefined || part === partOf(file)) await load();
  }
  const failures: Failure[] = [];
  let passed = 0;
  await new Promise<void>((resolve) => {
    mocha
      .run(() => resolve())
      .on('pass', () => (passed += 1))
      .on('fail', (test, error: Error) =>
        failures.push({ title: test.fullTitle(), message: error.stack ?? error.message }),
      );
  });
  const results = { passed, failed: failures.length, failures };
  const file = process.env['EARSHOT_TEST_RESULTS'];
  if (file !== undefined) writeFileSync(file, JSON.stringify(results));
  if (failures.length > 0) throw new Error(`${failures.length} failed`);
}
