// Files whose tests close, reload or kill windows, or cannot use the shared window. They run as a separate step, in
// parallel with the others.
import { defineConfig } from 'vitest/config';
import browser from '../vitest.config.ts';

export default defineConfig({
  ...browser,
  cacheDir: '.build/vite-alone',
  root: `${import.meta.dirname}/../../..`,
  test: { ...browser.test, include: ['test/browser/alone/*.browser.test.ts'] },
});
