// Commands and skills that ship with Earshot.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compactFocus, listCommandSkills } from '../../../../src/core/prompt/builtInSkills.ts';
import { expandPrompt } from '../../../../src/core/prompt/promptFiles.ts';
import { listSkills } from '../../../../src/core/prompt/skills.ts';
import { atTestEnd } from '../../../support/endings.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

async function begin() {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-built-in-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  return { folder, workspace: createFolderWorkspace(folder) };
}

test('/init and /review become their instructions, with what the user adds', async () => {
  const { workspace } = await begin();
  const init = await expandPrompt('/init keep it short', workspace, undefined);
  expect(init).toMatchObject({
    ok: true,
    value: expect.stringMatching(/^Write the file AGENTS\.md[\s\S]*keep it short$/) as string,
  });
  const review = await expandPrompt('/review src/a.ts', workspace, undefined);
  expect(review).toMatchObject({ ok: true, value: expect.stringContaining('What to review: src/a.ts\n') as string });
});

test('they are listed for the user and not offered to the model, and a skill of the workspace replaces one', async () => {
  const { folder, workspace } = await begin();
  expect((await listCommandSkills(workspace, undefined)).map(({ name }) => name)).toEqual(['init', 'review']);
  expect(await listSkills(workspace, undefined)).toEqual([]);
  await mkdir(join(folder, '.claude/skills/review'), { recursive: true });
  const text = '---\nname: review\ndescription: Ours.\n---\nReview as we do.\n';
  await writeFile(join(folder, '.claude/skills/review/SKILL.md'), text);
  const own = (await listCommandSkills(workspace, undefined)).find(({ name }) => name === 'review');
  expect(own).toMatchObject({ description: 'Ours.', folder: '.claude/skills/review' });
  expect(await expandPrompt('/review', workspace, undefined)).toMatchObject({
    value: expect.stringContaining('Review as we do.') as string,
  });
});

test.each([
  ['/compact', ''],
  ['  /compact  the API keys\nand names ', 'the API keys\nand names'],
  ['/compactor', undefined],
  ['say /compact', undefined],
  ['/compact/x', undefined],
])('%j: the focus is %j', (typed, focus) => {
  expect(compactFocus(typed)).toBe(focus);
});
