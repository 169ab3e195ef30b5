// Compares our checks of skills with skills-ref, the reference library of Agent Skills: both accept and refuse the
// same, except for the listed differences.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProperties, validate } from 'skills-ref';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listSkills } from '../../../../src/core/prompt/skills.ts';
import { createFolderWorkspace } from '../../../support/workspace/folderWorkspace.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'earshot-skills-ref-'));
});
afterEach(() => rm(root, { recursive: true }));

const skill = (name: string, description = 'Reads PDF files.', more = '') =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\nHow to read them.\n`;

/** What we and the reference say about a skill, by default in the folder `pdf`. */
async function judge(text: string, { folder = 'pdf', file = 'SKILL.md' } = {}) {
  const place = join(root, '.claude/skills', folder);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, file), text);
  const [ours] = await listSkills(createFolderWorkspace(root), undefined);
  const problems = await validate(place);
  return { ours, problems, place };
}

describe('both accept', () => {
  test.each([
    ['a plain description', skill('pdf')],
    ['a description over several lines', skill('pdf', 'Reads\n  PDF\n  files.')],
    ['a folded description', skill('pdf', '>-\n  Reads\n  PDF files.')],
    ['a literal description', skill('pdf', '|\n  Reads\n  PDF files.')],
    ['double quotes', skill('pdf', String.raw`"Reads: \"PDF\" # files."`)],
    ['single quotes', skill('pdf', "'Reads: it''s PDF.'")],
    [
      'every field of the specification',
      skill('pdf', 'x', 'license: MIT\nallowed-tools: Read Bash\ncompatibility: Linux\n'),
    ],
    ['nested metadata', skill('pdf', 'x', 'metadata:\n  name: other\n  version: "1"\n')],
    ['a long description', skill('pdf', 'x'.repeat(1024))],
    ['an empty body', '---\nname: pdf\ndescription: x\n---\n'],
  ])('%s, and read the same description', async (_what, text) => {
    const { ours, problems, place } = await judge(text);
    expect(problems).toEqual([]);
    const { name, description } = await readProperties(place);
    expect(ours).toMatchObject({ name, description: description.replace(/\s+/g, ' ') });
  });
});

describe('both refuse', () => {
  test.each([
    ['no head', 'Just text.'],
    ['no end of the head', '---\nname: pdf\n'],
    ['no name', '---\ndescription: x\n---\n'],
    ['no description', '---\nname: pdf\n---\n'],
    ['an empty description', skill('pdf', '""')],
    ['another name than its folder', skill('word')],
    ['a description that is too long', skill('pdf', 'x'.repeat(1025))],
    ...['PDF', 'p_df', '-pdf', 'pdf-', 'p--df', 'p'.repeat(65), '../pdf', 'a b'].map((name) => [
      `the name ${name}`,
      skill(name),
    ]),
  ])('%s', async (_what, text = '') => {
    const { ours, problems } = await judge(text);
    expect(ours).toBeUndefined();
    expect(problems).not.toEqual([]);
  });
});

describe('only the reference refuses', () => {
  test.each([
    ['fields of other products, which are ignored', skill('pdf', 'x', 'disable-model-invocation: false\n')],
    ['a colon in a plain text, which many skills have', skill('pdf', 'Use when: a PDF is read.')],
    ['a long compatibility, which is not shown', skill('pdf', 'x', `compatibility: ${'y'.repeat(501)}\n`)],
  ])('%s', async (_why, text) => {
    const { ours, problems } = await judge(text);
    expect(ours?.name).toBe('pdf');
    expect(problems).not.toEqual([]);
  });
});

describe('only we refuse', () => {
  test.each([
    ['letters beyond a-z, which can imitate another name', skill('größe'), { folder: 'größe' }],
    ['skill.md in small letters, which the specification does not name', skill('pdf'), { file: 'skill.md' }],
    ['more than 256 KB, which would leave no room for the work', skill('pdf') + 'y'.repeat(300_000), {}],
  ])('%s', async (_why, text, place) => {
    const { ours, problems } = await judge(text, place);
    expect(ours).toBeUndefined();
    expect(problems).toEqual([]);
  });
});
