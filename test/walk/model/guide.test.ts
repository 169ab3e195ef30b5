// The Guide with the real tools: for a missing file it repeats the tool's message and adds nothing.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGuideModel } from '../../../src/models/guide/guide.ts';
import { atTestEnd } from '../../support/endings.ts';
import { startHeadless } from '../../support/walk/headless.ts';

test('the Guide shows a readable file and repeats the error for a missing one', async () => {
  const headless = await startHeadless({ model: createGuideModel({ wordMilliseconds: 0 }) });
  atTestEnd(() => headless.end());
  await writeFile(join(headless.folder, 'a.txt'), 'one\ntwo\n');
  const opened = await headless.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  const ask = async (text: string) => {
    await headless.earshot.send(log.id, text);
    await headless.earshot.settled(log.id);
    return log.state.messages.all.findLast(({ role }) => role === 'assistant')?.content;
  };
  expect(await ask('read a.txt')).toBe('That is `a.txt`, 2 lines. I will be notified if it changes.');
  expect(await ask('read no/such.txt')).toMatch(
    /^I cannot read `no\/such\.txt`:\n\n```\n.*no\/such\.txt does not exist\./,
  );
});
