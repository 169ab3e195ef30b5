// Where nobody says when processes ran, a change during a command is never taken for the command's.
import { expect, test } from 'vitest';
import { Review } from '../../src/core/checkpoints/review.ts';
import { processObserver } from '../../src/node/processActivity.ts';
import { reviewing } from '../support/walk/reviewing.ts';
import { beginWalk } from '../support/walk/walking.ts';

test('changes by a command are changed meanwhile and not undone with all, except a file that its output shows', async () => {
  const command = 'printf "one line that is long enough\\n" > shown.txt; cat shown.txt; echo own > made.txt';
  const answers = [{ calls: [{ id: 'c', name: 'run_command', arguments: { command } }] }, { text: ['Done.'] }];
  const walked = await beginWalk(answers, { checkpoints: true, ports: { processes: processObserver } });
  const { review, deps, text } = reviewing(walked);
  await walked.go();
  const paths = async (of: Review) => (await of.files()).map(({ path }) => path);
  expect(await paths(review)).toEqual(['shown.txt']);
  expect(await paths(new Review(deps, 'meanwhile'))).toEqual(['made.txt']);
  await review.undo();
  expect([await text('shown.txt'), await text('made.txt')]).toEqual([undefined, 'own\n']);
});
