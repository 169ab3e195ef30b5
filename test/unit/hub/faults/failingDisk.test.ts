// The hub program while its system calls fail at random (libfiu). Senders repeat what was not answered.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { HubUnderFaults } from '../../../support/hub/hubUnderFaults.ts';
import { runs } from '../../../support/runs.ts';

/** Where Debian's package fiu-utils is missing, these tests are skipped. */
const hasFiu = spawnSync('fiu-run', ['-h']).error === undefined;
/** So many that reading them takes a moment. */
const BEFORE = 400;
const MESSAGES = BEFORE + runs(80, 4000);
const SENDERS = ['amber', 'birch', 'cedar', 'dove'];

const faults: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
  ['syncs fail', { 'posix/io/sync/fsync': 0.03, 'posix/io/sync/fdatasync': 0.1 }],
  ['writes fail', { 'posix/io/rw/write': 0.01, 'posix/io/rw/pwrite': 0.01 }],
  ['writes fail and files cannot be cut', { 'posix/io/rw/write': 0.01, 'posix/io/rw/ftruncate': 0.3 }],
  ['the index cannot be written', { 'posix/io/rw/pwrite': 0.01, 'posix/io/rw/pwrite/reduce': 0.01 }],
  ['the index cannot be read', { 'posix/io/rw/pread': 0.02, 'posix/io/rw/read': 0.001 }],
];

test.skipIf(!hasFiu).each(faults)(
  'while %s at random, no message is lost, doubled or out of order',
  async (_, probabilities) => {
    const commands = Object.entries(probabilities).flatMap(([name, probability]) => [
      '-c',
      `enable_random name=${name},probability=${probability}`,
    ]);
    const hub = await HubUnderFaults.create(['fiu-run', '-x', ...commands]);
    const send = (names: readonly string[], most: number) =>
      Promise.all(names.map((name) => hub.sendAs(name, () => hub.acknowledged.size >= most, 'x'.repeat(4000))));
    try {
      await hub.start([]);
      await send(['egret'], BEFORE);
      await hub.kill();
      const sent = send(SENDERS, MESSAGES);
      const serving = (async () => {
        // Restarted often, since an index that has failed once stays in memory.
        while (hub.isSending) {
          if (await hub.start()) await Promise.race([hub.ended, hub.acknowledgements(60), sent]);
          await hub.kill();
        }
      })();
      await sent;
      await serving;
      await hub.start([]);
      await hub.check();
      expect(hub.acknowledged.size).toBeGreaterThanOrEqual(MESSAGES);
    } finally {
      await hub.remove();
    }
  },
  600_000,
);
