// The response of a shell command lists its file changes with the previous bytes, including bytes that others wrote.
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { beginWalk, type Walked } from '../../support/walk/walking.ts';

const run = (command: string) => ({ calls: [{ id: 'c', name: 'run_command', arguments: { command } }] });

async function eventsOf({ headless, id }: Walked): Promise<LogEvent[]> {
  const lines = (await headless.events(id)).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

/** The changes of the only command, as `path: before → after`. */
async function changesOf(walked: Walked): Promise<string[]> {
  const response = (await eventsOf(walked)).find((event) => event.type === 'tool_call_response');
  const say = async (hash: string | undefined) => {
    if (hash === undefined) return '–';
    const place = join(walked.headless.storage, 'snapshots', hash.slice(0, 2), hash);
    return JSON.stringify(await readFile(place, 'utf8'));
  };
  const changes = response?.type === 'tool_call_response' ? (response.changes ?? []) : [];
  return Promise.all(
    changes.map(async ({ path, before, after }) => `${path}: ${await say(before)} → ${await say(after)}`),
  );
}

test('overwritten, deleted, created and moved files are listed; changes between the turn’s start and the command are not', async () => {
  const command = 'echo new > over.txt; rm gone.txt; echo made > made.txt; mv from.txt to.txt';
  const walked = await beginWalk([run(command), { text: ['Done.'] }], { checkpoints: true });
  const { folder } = walked.headless;
  const put = (name: string, text: string) => writeFile(join(folder, name), text);
  for (const name of ['over', 'gone', 'from', 'mine']) await put(`${name}.txt`, `${name} of mine\n`);
  walked.headless.frontend.answer = async () => {
    // The user saves while the approval is open.
    await put('mine.txt', 'later\n');
    await put('over.txt', 'over, later\n');
    return { action: 'approve', by: 'user' };
  };
  await walked.go();
  expect((await changesOf(walked)).sort()).toEqual([
    'from.txt: "from of mine\\n" → –',
    'gone.txt: "gone of mine\\n" → –',
    'made.txt: – → "made\\n"',
    'over.txt: "over, later\\n" → "new\\n"',
    'to.txt: – → "from of mine\\n"',
  ]);
  const events = await eventsOf(walked);
  const taken = events.filter((event) => event.type === 'checkpoint_taken');
  expect(taken.map(({ reason, tool_call_id: call }) => [reason, call])).toEqual([
    ['turn', undefined],
    ['command', 'c'],
  ]);
  const [turn] = walked.log.state.changes.turns;
  expect(turn?.title).toBe('Hello.');
  expect(turn?.checkpoint?.name).toMatch(/^[0-9a-f]{40}$/);
  expect([...walked.log.state.changes.open.keys()].sort()).toEqual([
    'from.txt',
    'gone.txt',
    'made.txt',
    'over.txt',
    'to.txt',
  ]);
  expect(walked.headless.errors).toEqual([]);
});

test('a cancelled command lists its changes too, and the model is not notified of them', async () => {
  const walked = await beginWalk([run('echo half > a.txt; cat pipe')], { checkpoints: true });
  const { folder, frontend, earshot } = walked.headless;
  await writeFile(join(folder, 'a.txt'), 'mine');
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const started = frontend.nextDrawn('tool_started');
  const going = walked.go();
  await started;
  await expect.poll(() => readFile(join(folder, 'a.txt'), 'utf8')).toBe('half\n');
  await earshot.stop(walked.id);
  await going;
  expect(await changesOf(walked)).toEqual(['a.txt: "mine" → "half\\n"']);
});

test('if no checkpoint can be taken, the command still runs and the log says why', async () => {
  const walked = await beginWalk([run('echo new > a.txt'), { text: ['Done.'] }], { checkpoints: true });
  const { storage } = walked.headless;
  await rm(join(storage, 'checkpoints'), { recursive: true, force: true });
  await mkdir(storage, { recursive: true });
  await writeFile(join(storage, 'checkpoints'), 'in the way');
  await walked.go();
  const taken = (await eventsOf(walked)).filter((event) => event.type === 'checkpoint_taken');
  expect(taken.map(({ checkpoint, failure }) => [checkpoint, failure?.code])).toEqual([
    [undefined, 'checkpoint'],
    [undefined, 'checkpoint'],
  ]);
  expect(await readFile(join(walked.headless.folder, 'a.txt'), 'utf8')).toBe('new\n');
});

test('a change whose bytes cannot be read is logged; the others are listed', async () => {
  const warnings: string[] = [];
  const walked = await beginWalk([run('echo 1 > a.txt; echo 2 > b.txt'), { text: ['Done.'] }], { checkpoints: true });
  const { checkpoints, logger } = walked.headless.ports;
  if (checkpoints === undefined) throw new Error('no checkpoints');
  logger.warn = (message) => warnings.push(message);
  const { read } = checkpoints;
  checkpoints.read = async (wanted, signal) => {
    const found = new Map(await read(wanted, signal));
    for (const [key, bytes] of found) if (Buffer.from(bytes).toString() === '1\n') found.delete(key);
    return found;
  };
  await walked.go();
  expect(await changesOf(walked)).toEqual(['b.txt: – → "2\\n"']);
  expect(warnings).toEqual(['changes of the command may not be listed, since their bytes could not be read: a.txt']);
});
