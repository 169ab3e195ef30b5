// The first capture of a folder in a separate process: the same state, no file checked by this process, nothing left
// running.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Checkpoints } from '../../../../src/core/ports/storage.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { createCheckpoints, type StoredCheckpoints } from '../../../../src/storage/checkpoints/checkpoints.ts';
import { type CaptureFirst, captureInProcess } from '../../../../src/storage/checkpoints/firstCapture.ts';
import { createSnapshots } from '../../../../src/storage/snapshots.ts';
import { recordingLogger } from '../../../support/recordingLogger.ts';

const program = resolve(import.meta.dirname, '../../../../src/bin/firstCapture.ts');
let root: string;
let folder: string;
let warnings: string[];
const opened: StoredCheckpoints[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-first-'));
  folder = join(root, 'work');
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(join(folder, 'src', 'menu.ts'), 'green\n');
  // One byte of this name is not UTF-8.
  await writeFile(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), 'odd\n');
  await writeFile(join(folder, '.gitignore'), '*.env\n');
  await writeFile(join(folder, 'own.env'), 'x'.repeat(2 * 1024 * 1024));
  warnings = [];
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  await rm(root, { recursive: true, force: true });
});

function open(storage: string, captureFirst?: CaptureFirst): StoredCheckpoints {
  const logger = { ...recordingLogger([]), warn: (message: string) => warnings.push(message) };
  const parts = { files: realFileSystem, folder: join(root, storage), clock: realClock, logger };
  const snapshots = createSnapshots(parts);
  const checkpoints = createCheckpoints({ ...parts, snapshots, ...(captureFirst && { captureFirst }) });
  opened.push(checkpoints);
  return checkpoints;
}

const { signal } = new AbortController();
const take = (checkpoints: Checkpoints, also: readonly string[] = [], ending = signal) =>
  checkpoints.take({
    folders: [{ path: '', absolute: folder }],
    also: also.map((path) => ({ path, absolute: join(folder, path) })),
    keep: true,
    signal: ending,
  });

test('the first capture has the same state as one taken in this process', async () => {
  const capture = vi.fn(captureInProcess(program));
  const apart = await take(open('apart', capture), ['own.env']);
  const here = await take(open('here'), ['own.env']);
  expect(capture).toHaveBeenCalledTimes(1);
  expect(apart).toEqual(here);
  expect(warnings).toEqual([]);
});

test('only the first capture is taken in another process, and later ones find what changed since', async () => {
  const capture = vi.fn(captureInProcess(program));
  const checkpoints = open('apart', capture);
  const [first, same] = await Promise.all([take(checkpoints, ['own.env']), take(checkpoints, ['own.env'])]);
  await writeFile(join(folder, 'src', 'menu.ts'), 'black\n');
  const changed = await take(checkpoints, ['own.env']);
  if (!first.ok || !changed.ok) throw new Error('not captured');
  expect(same).toEqual(first);
  const differences = await checkpoints.compare(first.value.name, changed.value.name, signal);
  expect(differences.ok && differences.value.map(({ file }) => file.path)).toEqual(['src/menu.ts']);
  expect(capture).toHaveBeenCalledTimes(1);
});

test('the first capture is taken in this process if the other process fails, and that is logged', async () => {
  const broken = join(root, 'broken.mjs');
  for (const [text, reason] of [
    ['process.stderr.write("No memory.\\n"); process.exit(1);', 'No memory.'],
    ['process.kill(process.pid, "SIGKILL");', 'SIGKILL'],
    ['process.stdout.write("{}"); process.stdin.destroy();', 'tree'],
  ] as const) {
    await writeFile(broken, text);
    warnings = [];
    const taken = await take(open(`for ${reason}`, captureInProcess(broken)));
    expect(taken).toEqual(await take(open(`here for ${reason}`)));
    expect(warnings.join()).toContain(reason);
  }
});

test('the first capture ends with the signal and with the window', async () => {
  const waiting = join(root, 'waiting.mjs');
  // Like the real program, it stops when its input ends.
  await writeFile(waiting, `process.stdin.on('end', () => process.exit(1)).resume();`);
  const ending = new AbortController();
  const begun = Promise.withResolvers<void>();
  const watched: CaptureFirst = (capture, either) => {
    const running = captureInProcess(waiting)(capture, either);
    begun.resolve();
    return running;
  };
  const taking = take(open('apart', watched), [], ending.signal);
  await begun.promise;
  ending.abort(new Error('stopped'));
  await expect(taking).rejects.toThrow('stopped');
  const checkpoints = open('closing', captureInProcess(waiting));
  const left = take(checkpoints).catch((error: unknown) => error);
  await checkpoints.close();
  expect(await left).toMatchObject({ ok: false });
  expect(warnings).toEqual([]);
});
