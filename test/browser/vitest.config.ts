import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** These files run before the shared window is opened: they need a new window, or their own. */
const first: readonly string[] = ['startup', 'untrusted'];
/**
 * These files run when no other file needs the shared window: the first leaves an extension host behind, the others
 * close the window.
 */
const last: readonly string[] = ['killedBrowser', 'models', 'guide'];

class SharedWindowSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const name = basename(moduleId, '.browser.test.ts');
      return first.includes(name) ? -1 : last.indexOf(name) + 1;
    };
    const byName = files.toSorted((one, other) => one.moduleId.localeCompare(other.moduleId));
    return byName.sort((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  cacheDir: '.build/vite-browser',
  root: `${import.meta.dirname}/../..`,
  test: {
    include: ['test/browser/*.browser.test.ts', 'test/browser/{changes,outside,page}/*.browser.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Long time limits, because a busy machine is slow.
    expect: { poll: { timeout: 60_000, interval: 100 } },
    pool: 'forks',
    // Files share a window through the state of a module.
    isolate: false,
    // Each worker runs a VS Code and a browser. Next to the VS Codes of other steps, two cores can handle only one
    // worker.
    maxWorkers: 1,
    sequence: { sequencer: SharedWindowSequencer },
  },
});
