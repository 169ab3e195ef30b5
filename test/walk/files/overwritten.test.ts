// A command of the conversation overwrites changes that somebody else made after the model had read the file: the
// result shows both diffs, and Undo restores the lost bytes.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

const LINES = ['one', 'two', 'three', 'four', ''].join('\n');

/** The model reads the file; somebody else changes it while the command waits for its approval; the command runs. */
async function overwrite(command: string, theirs: (path: string) => Promise<void>, ...more: string[]) {
  const commands = [command, ...more].map((text, index) => ({
    id: `c${index}`,
    name: 'run_command',
    arguments: { command: text },
  }));
  const walked = await beginWalk(
    [
      { calls: [{ id: 'r', name: 'read_file', arguments: { path: 'a.txt' } }] },
      ...commands.map((one) => ({ calls: [one] })),
      { text: ['Done.'] },
    ],
    { checkpoints: true, watching: true },
  );
  const { folder, frontend } = walked.headless;
  await writeFile(join(folder, 'a.txt'), LINES);
  frontend.answer = async (request) => {
    if (request.call.name === 'run_command' && request.call.id === 'c0') await theirs(join(folder, 'a.txt'));
    return { action: 'approve', by: 'user' };
  };
  await walked.go();
  const last = walked.server.requests.at(-1)?.body ?? '';
  return { walked, ...reviewing(walked), last };
}

/** The notifications of a.txt in the last request. */
function notified(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
  const texts = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
  return texts.join('\n');
}

test('the notification shows the lost text and what the command wrote', async () => {
  const { review, text, last, walked } = await overwrite("sed -i 's/one/ONE/; /mine/d' a.txt", (path) =>
    writeFile(path, LINES.replace('four\n', 'four\nmine\n')),
  );
  const reported = notified(last);
  expect(reported).toContain('overwrote changes that somebody else had made since you read it.');
  const [, lost = '', put = ''] = /Lost:(.*?)Put there by your command:(.*?)The user can/s.exec(reported) ?? [];
  expect(lost).toContain('+mine');
  expect(lost).not.toContain('ONE');
  expect(put).toContain('-mine');
  expect(put).toContain('+ONE');
  // The change is not reported a second time as one combined diff.
  expect(reported).not.toContain('changed since you read it');
  expect(await review.file('a.txt')).toMatchObject({ overwrote: true });
  await value(review.undo());
  expect(await text('a.txt')).toBe(LINES.replace('four\n', 'four\nmine\n'));
  expect(walked.headless.errors).toEqual([]);
});

test('a command that restores the bytes the model had read is reported too', async () => {
  const { review, text, last } = await overwrite(`printf 'one\\ntwo\\nthree\\nfour\\n' > a.txt`, (path) =>
    writeFile(path, 'all of it is mine\n'),
  );
  expect(notified(last)).toContain('overwrote changes that somebody else had made');
  expect(notified(last)).toContain('+all of it is mine');
  await value(review.undo());
  expect(await text('a.txt')).toBe('all of it is mine\n');
});

test('a command that removes the file is reported too', async () => {
  const { review, text, last } = await overwrite('rm a.txt', (path) => writeFile(path, `${LINES}mine\n`));
  expect(notified(last)).toContain('removed changes that somebody else had made since you read it.');
  expect(notified(last)).toContain('+mine');
  await value(review.undo());
  expect(await text('a.txt')).toBe(`${LINES}mine\n`);
});

test('nothing is reported as lost if only commands of the conversation wrote or the file was gone', async () => {
  const own = await overwrite('echo first > a.txt', async () => undefined, 'echo second > a.txt');
  expect(notified(own.last)).not.toContain('somebody else');
  const gone = await overwrite('echo first > a.txt', (path) => rm(path));
  expect(notified(gone.last)).not.toContain('somebody else');
});
