import { defineConfig } from 'vitest/config';

export default defineConfig({
  cacheDir: '.build/vite',
  root: `${import.meta.dirname}/..`,
  test: {
    include: ['test/unit/**/*.test.ts', 'test/unit/**/*.test.tsx', 'test/walk/**/*.test.ts'],
    setupFiles: ['test/support/leaks.ts'],
    // A loaded machine is slow, not wrong. What a hook that took too long goes on with would fail every later test of its worker.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
    pool: 'forks',
    // Node runs the sources itself, which takes a tenth less time than Vite's transformed modules. No test mocks a module.
    experimental: { viteModuleRunner: false },
    execArgv: ['--import', `${import.meta.dirname}/support/tsxLoader.mjs`],
    isolate: false,
    // Half of the time is spent waiting for processes, sockets and disks.
    maxWorkers: 3,
  },
});
