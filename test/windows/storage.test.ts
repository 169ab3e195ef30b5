// Locks between processes on Windows, and the log of a process that is killed while it writes.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryKernelLock } from '../../src/node/kernelLock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { programs, startNode, temporaryFolder, test, until } from './support.ts';

test('a lock is held by one process, denied to others, and free after its release or death', async () => {
  const path = join(temporaryFolder(), 'lock.db');
  const hold = () => startNode([join(programs, 'lockHolder.mjs'), path]);
  const first = hold();
  equal(await first.line, 'held');
  equal(tryKernelLock(path), undefined);
  first.child.kill();
  await first.ended;
  let lock = tryKernelLock(path);
  await until(() => (lock ??= tryKernelLock(path)) !== undefined);
  const second = hold();
  equal(await second.line, 'denied');
  second.child.stdin.end();
  await second.ended;
  lock?.release();
  const third = hold();
  equal(await third.line, 'held');
  third.child.stdin.end();
  await third.ended;
});

test('what a killed process acknowledged is in its log, which another process opens', async () => {
  const folder = temporaryFolder();
  const id = realIds.ulid();
  for (let killed = 0; killed < 2; killed += 1) {
    const { child, line, ended } = startNode([join(programs, 'child.mjs'), folder, id, randomUUID().slice(0, 8)]);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    equal(await line, 'owned');
    await until(() => text.split('\n').length > 40);
    child.kill();
    await ended;
    const queued = [...text.matchAll(/^queued (\S+)/gm)].map(([, name]) => name ?? '');
    ok(queued.length > 0, text.slice(0, 300));
    const log = logsIn(folder);
    deepEqual(
      queued.filter((name) => !log.includes(name)),
      [],
    );
  }
});

function logsIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('events.jsonl'),
  );
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
}
