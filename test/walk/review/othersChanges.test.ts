// Changes by other programs during or after a command are never attributed to Earshot: they are listed separately, and
// undo does not touch them.
import { execFile, execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Review } from '../../../src/core/checkpoints/review.ts';
import { type ProcessObserver, type ProcessWatch } from '../../../src/core/ports/processes.ts';
import { processObserver } from '../../../src/node/processActivity.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { type Reviewing, reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

let calls = 0;
const call = (command: string, more: object = {}) => ({
  id: `c${calls++}`,
  name: 'run_command',
  arguments: { command, ...more },
});
const turnOf = (...commands: ReturnType<typeof call>[]): ScriptedAnswer[] => [{ calls: commands }, { text: ['Done.'] }];

interface Begun extends Reviewing {
  readonly walked: Walked;
  readonly others: Review;
  whileAsleep(act: () => void, at: () => Promise<number>): Promise<void>;
  /** Writes the file from another process while all processes of Earshot are known to sleep. */
  otherWrites(path: string, text: string, commands?: number): Promise<void>;
  /** Lets the command that reads from this pipe continue. */
  release(pipe?: string): Promise<unknown>;
}

async function begin(...answers: ScriptedAnswer[]): Promise<Begun> {
  let watch: ProcessWatch | undefined;
  const observed = new Set<number | undefined>();
  const processes: ProcessObserver = {
    watch: () => {
      const real = processObserver.watch();
      watch = {
        isObserving: real.isObserving,
        add: (process) => {
          real.add(process);
          observed.add(process.pid);
        },
        settled: (at) => real.settled(at),
        mayHaveRun: (at) => real.mayHaveRun(at),
        heldByOthers: (absolute) => real.heldByOthers(absolute),
        dispose: () => real.dispose(),
      };
      return watch;
    },
  };
  const walked = await beginWalk(answers, { checkpoints: true, ports: { processes } });
  const { folder } = walked.headless;
  execFileSync('mkfifo', ['pipe', 'second.pipe'], { cwd: folder });
  const parts = reviewing(walked);
  /** Repeats the act until it happened while no process of Earshot ran, because a busy machine delays processes. */
  const whileAsleep = async (act: () => void, at: () => Promise<number>, commands = 1) => {
    await expect.poll(() => observed.size).toBe(commands);
    let acted = Number.NEGATIVE_INFINITY;
    const attempt = async () => {
      if (watch?.mayHaveRun(acted) === false && acted > 0) return true;
      if (Date.now() - acted > 300) {
        act();
        acted = await at();
      }
      return false;
    };
    await expect.poll(attempt, { timeout: 60_000 }).toBe(true);
  };
  return {
    ...parts,
    walked,
    others: new Review(parts.deps, 'meanwhile'),
    whileAsleep,
    otherWrites: (path, text, commands) =>
      whileAsleep(
        () => execFileSync('sh', ['-c', 'printf %s "$2" > "$1"', 'sh', path, text], { cwd: folder }),
        async () => (await stat(join(folder, path))).ctimeMs,
        commands,
      ),
    release: (pipe = 'pipe') => promisify(execFile)('sh', ['-c', 'echo go > "$1"', 'sh', pipe], { cwd: folder }),
  };
}

const paths = async (review: Review) => (await review.files()).map(({ path }) => path).sort();

test('files that another process writes while a command waits are listed separately, and Undo All leaves them alone', async () => {
  const command = 'echo own > own.txt; echo own > mine.txt; cat pipe; echo later > later.txt';
  const { walked, review, others, put, text, otherWrites, release } = await begin(...turnOf(call(command)));
  await put('mine.txt', 'old\n');
  await put('theirs.txt', 'old\n');
  const going = walked.go();
  await expect.poll(() => text('own.txt')).toBe('own\n');
  await otherWrites('new.txt', 'new of theirs\n');
  await otherWrites('theirs.txt', 'changed by them\n');
  await release();
  await going;
  expect(await paths(review)).toEqual(['later.txt', 'mine.txt', 'own.txt']);
  expect(await paths(others)).toEqual(['new.txt', 'theirs.txt']);
  expect([...(await value(review.undo())).done].sort()).toEqual(['later.txt', 'mine.txt', 'own.txt']);
  expect([await text('own.txt'), await text('mine.txt'), await text('later.txt')]).toEqual([
    undefined,
    'old\n',
    undefined,
  ]);
  expect([await text('new.txt'), await text('theirs.txt')]).toEqual(['new of theirs\n', 'changed by them\n']);
  // Each of these changes can still be undone separately, and that can be reverted.
  await value(others.undo(['theirs.txt']));
  expect(await text('theirs.txt')).toBe('old\n');
  await value(others.keep(['new.txt']));
  expect(await paths(others)).toEqual([]);
  expect(await text('new.txt')).toBe('new of theirs\n');
  expect(walked.headless.errors).toEqual([]);
});

test('an own file that another process changes while the command waits is not undone', async () => {
  const { walked, review, others, text, otherWrites, release } = await begin(
    ...turnOf(call('echo own > shared.txt; cat pipe')),
  );
  const going = walked.go();
  await expect.poll(() => text('shared.txt')).toBe('own\n');
  await otherWrites('shared.txt', 'theirs now\n');
  await release();
  await going;
  expect(await paths(review)).toEqual([]);
  expect(await paths(others)).toEqual(['shared.txt']);
  const undone = await review.undo();
  expect(!undone.ok && undone.failure.code).toBe('nothing');
  expect(await text('shared.txt')).toBe('theirs now\n');
});

test('a file that another process deletes while the command waits is not recreated', async () => {
  const { walked, review, others, put, text, whileAsleep, release } = await begin(
    ...turnOf(call('echo own > own.txt; cat pipe')),
  );
  await put('theirs.txt', 'old\n');
  const going = walked.go();
  await expect.poll(() => text('own.txt')).toBe('own\n');
  const { folder } = walked.headless;
  await whileAsleep(
    () => execFileSync('sh', ['-c', 'rm -f theirs.txt note.txt; touch note.txt'], { cwd: folder }),
    async () => (await stat(folder)).mtimeMs,
  );
  await release();
  await going;
  expect(await paths(review)).toEqual(['own.txt']);
  expect(await paths(others)).toEqual(['note.txt', 'theirs.txt']);
  await value(review.undo());
  expect(await text('theirs.txt')).toBeUndefined();
});

test('a change by another process while idle is not listed, even if Earshot had created or changed the file', async () => {
  const { walked, review, others, put, text } = await begin(
    ...turnOf(call('echo own > made.txt; sed -i s/2/two/ lines.txt')),
    ...turnOf(call('echo own > second.txt')),
  );
  await put('lines.txt', '1\n2\n3\n4\n5\n');
  await walked.go();
  const { folder } = walked.headless;
  const script = 'echo theirs > idle.txt; echo theirs > made.txt; sed -i s/5/five/ lines.txt';
  execFileSync('sh', ['-c', script], { cwd: folder });
  expect(await paths(others)).toEqual([]);
  await walked.go('Again.');
  expect(await paths(others)).toEqual([]);
  expect(await paths(review)).toEqual(['lines.txt', 'made.txt', 'second.txt']);
  const { done, stayed } = await value(review.undo());
  expect([...done].sort()).toEqual(['lines.txt', 'second.txt']);
  expect(stayed.map(({ path }) => path)).toEqual(['made.txt']);
  expect([await text('idle.txt'), await text('made.txt'), await text('lines.txt')]).toEqual([
    'theirs\n',
    'theirs\n',
    '1\n2\n3\n4\nfive\n',
  ]);
});

test('a change by another process between the end of the command and the comparison is not attributed to the command', async () => {
  const { walked, review, others, otherWrites, text } = await begin(...turnOf(call('echo own > own.txt')));
  const { checkpoints } = walked.headless.ports;
  if (checkpoints === undefined) throw new Error('no checkpoints');
  const { take } = checkpoints;
  let taken = 0;
  checkpoints.take = async (options) => {
    // This is the checkpoint after the command.
    if (!options.keep && taken++ === 0) await otherWrites('late.txt', 'theirs');
    return take(options);
  };
  await walked.go();
  expect(await paths(review)).toEqual(['own.txt']);
  expect(await paths(others)).toEqual(['late.txt']);
  await value(review.undo());
  expect(await text('late.txt')).toBe('theirs');
});

test('all changes by the processes of a command are its own: children, threads, moved and deleted files', async () => {
  const { walked, review, others, put, text } = await begin(
    ...turnOf(
      call(
        "for i in 1 2 3 4 5; do (sleep 0.0$i; echo $i > child$i.txt) & done; wait; node -e 'setTimeout(() => require(`fs`).writeFile(`node.txt`, `n`, () => {}), 50)'; rm gone.txt; mv from.txt to.txt; touch -d 2001-01-01 old.txt; cp -p kept.txt copy.txt",
      ),
    ),
  );
  for (const name of ['gone', 'from', 'kept']) await put(`${name}.txt`, `${name}\n`);
  await walked.go();
  const made = [1, 2, 3, 4, 5].map((number) => `child${number}.txt`);
  const expected = [...made, 'copy.txt', 'from.txt', 'gone.txt', 'node.txt', 'old.txt', 'to.txt'];
  expect(await paths(review)).toEqual(expected);
  expect(await paths(others)).toEqual([]);
  await value(review.undo());
  expect([await text('gone.txt'), await text('from.txt'), await text('node.txt')]).toEqual([
    'gone\n',
    'from\n',
    undefined,
  ]);
});

test('changes by parallel and background commands are Earshot’s, whichever of them is compared', async () => {
  const background = 'while [ ! -e go ]; do sleep 0.02; done; echo background > background.txt; cat pipe';
  const { walked, review, others, text, otherWrites, release } = await begin(
    ...turnOf(call(background, { background: true, handle: 'writer' })),
    ...turnOf(
      call('touch go; while [ ! -s background.txt ]; do sleep 0.02; done; cat second.pipe'),
      call('echo beside > beside.txt'),
    ),
  );
  await walked.go();
  const going = walked.go('Again.');
  await expect.poll(() => text('background.txt')).toBe('background\n');
  // The quick command has been compared already.
  await expect.poll(() => walked.log.state.changes.lastStep('beside.txt')).toBeDefined();
  await otherWrites('theirs.txt', 'theirs', 3);
  await release();
  await release('second.pipe');
  await going;
  expect(await paths(review)).toEqual(['background.txt', 'beside.txt', 'go']);
  expect(await paths(others)).toEqual(['theirs.txt']);
  await value(review.undo());
  expect(await text('theirs.txt')).toBe('theirs');
});

test('a file that another process holds open for writing is not attributed to a busy command', async () => {
  const { walked, review, others, text } = await begin(
    ...turnOf(call('echo own > own.txt; while [ ! -e stop ]; do :; done')),
  );
  const { folder } = walked.headless;
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const going = walked.go();
  await expect.poll(() => text('own.txt')).toBe('own\n');
  // The test process is not part of the command.
  const log = openSync(join(folder, 'server.log'), 'a');
  writeSync(log, 'a line\n');
  await writeFile(join(folder, 'stop'), '');
  await going;
  closeSync(log);
  expect(await paths(others)).toContain('server.log');
  expect(await paths(review)).not.toContain('server.log');
  await value(review.undo());
  expect(await readFile(join(folder, 'server.log'), 'utf8')).toBe('a line\n');
  expect(await text('own.txt')).toBeUndefined();
});
