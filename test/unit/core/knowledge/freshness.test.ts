// How many of very many files are compared, and that the others are counted.
import { expect, test } from 'vitest';
import { countOlder, readFreshness } from '../../../../src/core/knowledge/freshness.ts';
import { call, folded, numbered, result } from '../../../support/log/events.ts';

test('of 1003 files the newest 1000 are compared, and 3 are counted as older', async () => {
  const seen = Array.from({ length: 1003 }, (_, index) => ({ path: `f${index}`, hash: 'h' }));
  const response = { ...result('c'), seen };
  const state = folded(numbered(call('c'), response)).seen;
  const missing = { ok: false, failure: { code: 'not_found', message: 'gone' } } as const;
  const workspace = { resolve: async () => missing, read: async () => missing, fingerprint: async () => missing };
  const files = await readFreshness({ workspace, snapshots: { get: async () => undefined, hash: () => '' } }, state);
  expect(files).toHaveLength(1000);
  expect(files.at(0)).toMatchObject({ path: 'f3', state: 'deleted' });
  expect(countOlder(state)).toBe(3);
});
