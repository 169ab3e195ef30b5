// Files whose tests close, reload or kill windows, or need another one than the shared: a step of their own, beside the others.
import { defineConfig } from 'vitest/config';
import browser from '../vitest.config.ts';

export default defineConfig({
  ...browser,
  cacheDir: '.build/vite-alone',
  root: `${import.meta.dirname}/../../..`,
  test: { ...browser.test, include: ['test/browser/alone/*.browser.test.ts'] },
});
