import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realFileSystem } from '../../../src/node/fileSystem.ts';
import { createKeySet } from '../../../src/storage/keySet.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

test('keys of any length are kept, by prefix those that were set as they are, and read again by another window', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const errors: string[] = [];
  const open = () =>
    createKeySet({ files: realFileSystem, folder, name: 'keys.json', logger: recordingLogger(errors) });
  const first = open();
  const long = `tool:${'x'.repeat(5000)}`;
  await first.set('cancel:a', true);
  await first.set('cancel:b', true);
  await first.set(long, true);
  await first.set('cancel:b', false);
  const second = open();
  await second.ready;
  expect([second.has(long), second.has('cancel:a'), second.has('cancel:b'), second.has(`${long}y`)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(second.keys('cancel:')).toEqual(['cancel:a']);
  expect(errors).toEqual([]);
});
