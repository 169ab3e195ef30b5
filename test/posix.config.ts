// Runs tests of processes, locks and files by what every POSIX system has, on Linux as on macOS.
import { defineConfig } from 'vitest/config';
import { posixEnvironment } from './posix/environment.ts';
import base from './vitest.config.ts';

export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'test/posix/*.test.ts',
      // A killed window, lines of commands, rights of sockets, and links that appear during a read.
      'test/unit/storage/killed.test.ts',
      'test/walk/lines/lines.test.ts',
      'test/unit/plugins/windowListener.test.ts',
      'test/unit/core/consent/door.test.ts',
      'test/unit/node/{commandOutput,kernelLock,manyCommands,supervision}.test.ts',
      // Not fileSystem and pinnedChanges: writes are synced apart, and no folder stays open; see docs/platforms.md.
      'test/unit/node/files/{durableFile,fileHashes,pinnedPlace,rawNames,resolvePath}.test.ts',
    ],
    env: posixEnvironment(process.platform),
  },
});
