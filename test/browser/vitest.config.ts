import { basename } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Before the window that files share is opened: they need one that is new, or their own. */
const first: readonly string[] = ['startup', 'untrusted'];
/** When nobody else needs the shared window: the first leaves an extension host behind, the others close the window. */
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
    // A loaded machine is slow, not wrong.
    expect: { poll: { timeout: 60_000, interval: 100 } },
    pool: 'forks',
    // Files share a window, which is the state of a module.
    isolate: false,
    // A worker has a VS Code and a browser; beside the VS Codes of the other lanes, two cores carry one of them well.
    maxWorkers: 1,
    sequence: { sequencer: SharedWindowSequencer },
  },
});
