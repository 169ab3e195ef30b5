// What is read of a growing file that is rotated, copied, emptied or replaced between two looks: each line once, in
// order, from whatever position the last process left; what cannot be found is said.
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { LineSearch } from '../../../../src/core/notify/lines/lineSearch.ts';
import { fileLines } from '../../../../src/producers/lines/tail.ts';
import { isRotated } from '../../../../src/producers/lines/rotations.ts';
import { type LinePosition } from '../../../../src/protocol/lines/lineWatch.ts';
import { watchTool } from '../../../../src/tools/watch.ts';
import { createManualClock } from '../../../support/manualClock.ts';
import { firstUnlessFull } from '../../../support/runs.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

const LIMIT = 64;

async function makeLog() {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-tail-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const workspace = createFolderWorkspace(folder);
  const log = join(folder, 'app.log');
  /** Called before the workspace reads a file or a folder. */
  const reading = { before: () => Promise.resolve() };
  const { read: readFile, list } = workspace;
  workspace.read = async (...args) => reading.before().then(() => readFile.apply(workspace, args));
  workspace.list = async (...args) => reading.before().then(() => list.apply(workspace, args));
  let clock = createManualClock();
  let position: LinePosition = { through: 0 };
  let source = fileLines(workspace, clock, 'app.log');
  const losses: string[] = [];

  /** The call of the tool. */
  const begin = async () => {
    const context = {
      workspace,
      watches: new Set(),
      lines: new Map(),
      watchLines: async (_target: string, _lines: object, from: LinePosition) => {
        position = { modified: Date.now(), ...from };
      },
    };
    const result = await watchTool.run({ tail: [{ path: 'app.log', notify_on: ['hit'] }] }, context as never);
    expect(result).toMatchObject({ isError: false, content: expect.stringContaining('1 file tailed') as string });
  };

  /** Another process: it knows only the position in the log. */
  const restart = () => {
    clock = createManualClock();
    source = fileLines(workspace, clock, 'app.log');
  };

  /** All lines since the last look, as the follower reads them. */
  const look = async () => {
    const search = new LineSearch({ patterns: ['hit'], position });
    let { file, modified, born } = position;
    const found: string[] = [];
    const at = (mark: string | undefined, through: number): LinePosition => ({
      through,
      ...(file !== undefined && { file }),
      ...(modified !== undefined && { modified }),
      ...(born !== undefined && { born }),
      ...(mark !== undefined && { mark }),
    });
    for (;;) {
      const piece = await source.read(at(search.nextMark, search.next), LIMIT);
      if (piece === undefined) break;
      if (piece.begins === true || piece.from !== search.next) {
        found.push(...search.takeRest().map(({ text }) => text));
        search.skipTo(piece.from);
      }
      ({ file, modified, born } = piece.file ?? {});
      if (piece.lost === true) losses.push(`after ${found.length}`);
      found.push(...search.take(piece.bytes).map(({ text }) => text));
    }
    position = { ...at(search.mark, search.position.through) };
    return found;
  };

  let count = 0;
  /** Longer than the bytes that are read at once, and the same length for each. */
  const write = async (lines: number, path = log) => {
    const texts = Array.from({ length: lines }, () => `hit ${String((count += 1)).padStart(40, '0')}`);
    await appendFile(path, texts.map((text) => `${text}\n`).join(''));
    // Real generations of a log are further apart than the resolution of a disk's time.
    await pause(12);
    return texts;
  };
  const name = (suffix: string) => join(folder, `app.log${suffix}`);
  /** As logrotate and loggers do it: app.log becomes app.log.1, that app.log.2. */
  const rotate = async (generations: number) => {
    for (let one = generations; one > 0; one -= 1) await rename(name(`.${one}`), name(`.${one + 1}`));
    await rename(log, name('.1'));
  };
  return { folder, log, name, begin, restart, look, write, rotate, losses, reading };
}

for (const restarts of [false, true]) {
  const who = restarts ? 'a process that starts later' : 'the process that follows it';

  test(`a log that is rotated several times between two looks is read whole by ${who}`, async () => {
    const log = await makeLog();
    await log.write(3);
    await log.begin();
    const read = await log.write(2);
    expect(await log.look()).toEqual(read);
    const written: string[] = [];
    for (let generation = 0; generation < 4; generation += 1) {
      written.push(...(await log.write(3)));
      await log.rotate(generation);
    }
    written.push(...(await log.write(2)));
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    const later = await log.write(1);
    expect(await log.look()).toEqual(later);
    expect(log.losses).toEqual([]);
  });

  test(`a log that is copied and emptied several times between two looks is read whole by ${who}`, async () => {
    const log = await makeLog();
    await log.write(1);
    await log.begin();
    expect(await log.look()).toEqual([]);
    const written = await log.write(3);
    expect(await log.look()).toEqual(written.splice(0));
    for (let generation = 0; generation < 3; generation += 1) {
      written.push(...(await log.write(2)));
      for (let one = generation; one > 0; one -= 1) await rename(log.name(`.${one}`), log.name(`.${one + 1}`));
      await copyFile(log.log, log.name('.1'));
      await truncate(log.log);
      await pause(12);
    }
    // The emptied log is longer again than what was read of it.
    written.push(...(await log.write(20)));
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    expect(log.losses).toEqual([]);
  });

  test(`a log that was empty at the call and is copied and emptied is read whole by ${who}`, async () => {
    const log = await makeLog();
    await writeFile(log.log, '');
    await log.begin();
    const written = await log.write(3);
    await copyFile(log.log, log.name('.1'));
    await truncate(log.log);
    await pause(12);
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    written.push(...(await log.write(2)));
    expect(await log.look()).toEqual(written.slice(3));
    expect(log.losses).toEqual([]);
  });

  test(`of a log that comes after the call and is rotated, ${who} reads the rotated ones too, but none from before`, async () => {
    const log = await makeLog();
    await log.write(2, log.name('.1'));
    await log.begin();
    await pause(12);
    await rename(log.name('.1'), log.name('.3'));
    const written = await log.write(2);
    await log.rotate(0);
    written.push(...(await log.write(2)));
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    expect(log.losses).toEqual([]);
  });

  test(`a log whose bytes are replaced by more in place is read from its beginning by ${who}, and the loss is said`, async () => {
    const log = await makeLog();
    await log.write(2);
    await log.begin();
    const read = await log.write(1);
    expect(await log.look()).toEqual(read);
    // The same inode, as also a deleted file often leaves it to the next one.
    await truncate(log.log);
    const written = await log.write(9);
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    expect(log.losses).toEqual(['after 0']);
    expect(await log.look()).toEqual([]);
    expect(log.losses).toHaveLength(1);
  });

  test(`a rotated log that was deleted or compressed is said to be lost by ${who}`, async () => {
    const log = await makeLog();
    await log.write(2);
    await log.begin();
    await log.write(2);
    await log.rotate(0);
    await unlink(log.name('.1'));
    const written = await log.write(2);
    if (restarts) log.restart();
    expect(await log.look()).toEqual(written);
    expect(log.losses).toEqual(['after 0']);
    await log.write(1);
    await log.rotate(0);
    await log.write(1);
    await rename(log.log, log.name('.0.gz'));
    const more = await log.write(1);
    const [unread = '', ...rest] = await log.look();
    expect(unread).toMatch(/^hit/);
    expect(rest).toEqual(more);
    expect(log.losses).toEqual(['after 0', 'after 1']);
  });
}

const rotations: readonly (readonly [string, (log: string, to: string) => Promise<void>])[] = [
  [
    'copied and emptied',
    async (log, to) => {
      await copyFile(log, to);
      await truncate(log);
    },
  ],
  ['renamed', rename],
];
test.each(firstUnlessFull(rotations))(
  'a log that is %s while it is read is read whole, whatever the search is about to read',
  async (_how, rotate) => {
    for (let when = 1, hasHappened = true; hasHappened; when += 1) {
      const log = await makeLog();
      await log.write(1);
      await log.begin();
      const written = await log.write(2);
      const found = [...(await log.look())];
      written.push(...(await log.write(1)));
      await rotate(log.log, log.name('.1'));
      await pause(12);
      written.push(...(await log.write(1)));
      let reads = 0;
      log.reading.before = async () => {
        if ((reads += 1) !== when) return;
        await rotate(log.log, log.name('.2'));
        await pause(12);
        written.push(...(await log.write(2)));
      };
      found.push(...(await log.look()));
      hasHappened = reads >= when;
      log.reading.before = () => Promise.resolve();
      written.push(...(await log.write(1)));
      found.push(...(await log.look()), ...(await log.look()));
      expect([when, found]).toEqual([when, written]);
      expect([when, log.losses]).toEqual([when, []]);
    }
  },
);

test('what a program writes to a rotated log before it opens the new one is read, also the end of a line', async () => {
  const log = await makeLog();
  await log.write(1);
  await log.begin();
  await appendFile(log.log, 'hit in two ');
  expect(await log.look()).toEqual([]);
  await log.rotate(0);
  expect(await log.look()).toEqual([]);
  await appendFile(log.name('.1'), 'halves\n');
  // It exists already and is empty, as logrotate leaves it.
  await writeFile(log.log, '');
  expect(await log.look()).toEqual(['hit in two halves']);
  const late = await log.write(2, log.name('.1'));
  expect(await log.look()).toEqual(late);
  const written = await log.write(2);
  expect(await log.look()).toEqual(written);
  expect(log.losses).toEqual([]);
});

test('the end of a line that was copied before the log was emptied is read from the copy', async () => {
  const log = await makeLog();
  await log.write(1);
  await log.begin();
  await appendFile(log.log, 'miss\nhit in two ');
  expect(await log.look()).toEqual([]);
  await appendFile(log.log, 'halves\n');
  await copyFile(log.log, log.name('-20261118'));
  await truncate(log.log);
  await pause(12);
  const written = await log.write(1);
  log.restart();
  expect(await log.look()).toEqual(['hit in two halves', ...written]);
  expect(log.losses).toEqual([]);
});

test('copies and logs of others in the folder are not read, also those that are written all the time', async () => {
  const log = await makeLog();
  await log.write(3);
  await log.begin();
  const read = await log.write(1);
  expect(await log.look()).toEqual(read);
  await copyFile(log.log, log.name('.bak'));
  await copyFile(log.log, log.name('.1'));
  await log.write(1, join(log.folder, 'app-1.log'));
  await log.write(1, join(log.folder, 'application.log'));
  await mkdir(log.name('.d'));
  const written = await log.write(2);
  await rename(log.name('.1'), log.name('.2'));
  await rename(log.log, log.name('.1'));
  await log.write(1, join(log.folder, 'app-1.log'));
  await log.write(1, log.name('.bak'));
  written.push(...(await log.write(1)));
  log.restart();
  expect(await log.look()).toEqual(written);
  expect(log.losses).toEqual([]);
});

test('a link to a log that leads to the next log is followed without a loss', async () => {
  const log = await makeLog();
  const [monday, tuesday] = [join(log.folder, 'monday'), join(log.folder, 'tuesday')];
  await log.write(1, monday);
  await symlink('monday', log.log);
  await log.begin();
  const written = await log.write(2, monday);
  await unlink(log.log);
  written.push(...(await log.write(2, tuesday)));
  await symlink('tuesday', log.log);
  expect(await log.look()).toEqual(written);
  expect(log.losses).toEqual([]);
});

test('a rotated log that is written late again is not read a second time, and the loss is said', async () => {
  const log = await makeLog();
  await log.write(1);
  await log.begin();
  const written = await log.write(2);
  await log.rotate(0);
  written.push(...(await log.write(2)));
  expect(await log.look()).toEqual(written.splice(0));
  written.push(...(await log.write(1)));
  await rename(log.log, log.name('.0'));
  await log.write(1, log.name('.1'));
  written.push(...(await log.write(1)));
  log.restart();
  expect(await log.look()).toEqual(written);
  expect(log.losses).toEqual(['after 1']);
});

test('if the time of day was set back between two rotations, the newest log is read, and the loss is said', async () => {
  const log = await makeLog();
  await log.write(1);
  await log.begin();
  const read = await log.write(2);
  expect(await log.look()).toEqual(read);
  await log.rotate(0);
  const yesterday = Date.now() / 1000 - 86_400;
  await log.write(2);
  await utimes(log.log, yesterday, yesterday);
  await log.rotate(1);
  const written = await log.write(2);
  await utimes(log.log, yesterday + 60, yesterday + 60);
  log.restart();
  expect(await log.look()).toEqual(written);
  expect(log.losses).toEqual(['after 0']);
});

test('names that loggers and logrotate give are known, those of other logs are not', () => {
  const rotated = [
    'app.log.1',
    'app.log.12.gz',
    'app.log-20261118',
    'app-2026-11-18.log',
    'app.2.log',
    'app.log.2026-11-18_10-00',
    'app.log.old',
    'app-2026-11-18T10:00:00.000Z.log',
  ];
  const others = [
    'app-1.log',
    'app.log.bak',
    'app.log.txt',
    'application.log',
    'app.logs',
    'app-error.log',
    'app.err.log',
    'app.log',
  ];
  expect(rotated.filter((name) => !isRotated(name, 'app.log'))).toEqual([]);
  expect(others.filter((name) => isRotated(name, 'app.log'))).toEqual([]);
  expect([isRotated('log.1', 'log'), isRotated('log-2', 'log'), isRotated('logger', 'log')]).toEqual([
    true,
    true,
    false,
  ]);
});
