// Runs tests of processes, locks and files on Linux by what every POSIX system has, as on macOS.
import { delimiter, join } from 'node:path';
import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'test/posix/*.test.ts',
      'test/unit/node/{commandOutput,kernelLock,manyCommands,supervision}.test.ts',
      // Not fileSystem and pinnedChanges: writes are synced apart, and no folder stays open; see docs/platforms.md.
      'test/unit/node/files/{durableFile,fileHashes,pinnedPlace,rawNames,resolvePath}.test.ts',
    ],
    env: {
      EARSHOT_PLATFORM: 'posix',
      // With a `ps` that takes only what those of BSD and macOS take.
      PATH: [join(import.meta.dirname, 'posix/bin'), process.env['PATH'] ?? ''].join(delimiter),
    },
  },
});
