import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '.build/vite-browser',
  root: `${import.meta.dirname}/../..`,
  test: {
    include: ['test/browser/**/*.browser.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A loaded machine is slow, not wrong.
    expect: { poll: { timeout: 60_000, interval: 100 } },
    pool: 'forks',
    // Each file has a VS Code and a browser of its own; two cores carry one of them well.
    maxWorkers: 1,
  },
});
