import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '.build/vite',
  root: `${import.meta.dirname}/..`,
  test: {
    include: ['test/unit/**/*.test.ts', 'test/unit/**/*.test.tsx', 'test/walk/**/*.test.ts'],
    setupFiles: ['test/support/leaks.ts'],
    // A loaded machine is slow, not wrong. What a hook that took too long goes on with would fail every later test of its worker.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'forks',
    isolate: false,
    // Half of the time is spent waiting for processes, sockets and disks.
    maxWorkers: 3,
  },
});
