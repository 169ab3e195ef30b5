// Lines that the user adds to a file that Earshot changed: they are not counted, shown or undone as Earshot's.
import { expect, test } from 'vitest';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

const README = '# Orders\n\nA small order service.\n';
const AGENT = '\n## Discounts\n\nSee docs/discounts.md.\n';
const MINE = '\nMaintained by the tea team.\n';

const begin = (command: string) => beginWith({ name: 'run_command', arguments: { command } });

async function beginWith(...calls: readonly { readonly name: string; readonly arguments: object }[]) {
  const answers = calls.map((call, index) => ({ calls: [{ id: `c${index}`, ...call }] }));
  const walked = await beginWalk([...answers, { text: ['Done.'] }], { checkpoints: true });
  const made = reviewing(walked);
  await made.put('README.md', README);
  await walked.go();
  return made;
}

test('lines of the user directly below are not counted, and stay when the file is undone', async () => {
  const { review, put, text } = await begin(`printf '${AGENT.replaceAll('\n', '\\n')}' >> README.md`);
  await put('README.md', README + AGENT + MINE);
  expect(await review.file('README.md')).toMatchObject({ added: 4, removed: 0, clash: false });
  const { bytes } = (await review.base('README.md')) ?? {};
  expect(Buffer.from(bytes ?? []).toString()).toBe(README + MINE);
  expect(await value(review.undo(['README.md']))).toEqual({ done: ['README.md'], stayed: [] });
  expect(await text('README.md')).toBe(README + MINE);
  expect(await review.files()).toEqual([]);
});

test('a created file with lines of the user is not deleted: these lines stay', async () => {
  const { review, put, text } = await begin('printf "1\\n2\\n" > new.txt');
  await put('new.txt', '1\n2\nmine\n');
  expect(await review.file('new.txt')).toMatchObject({ kind: 'changed', added: 2, removed: 0, clash: false });
  await value(review.undo());
  expect(await text('new.txt')).toBe('mine\n');
});

test('in a file with a conflict, other lines of the user are not counted as Earshot’s', async () => {
  const { review, put, text } = await begin(`printf 'one\\ntwo\\n' >> README.md`);
  const present = `mine above\n${README}one, mine\ntwo\nmine below\n`;
  await put('README.md', present);
  expect(await review.file('README.md')).toMatchObject({ added: 1, removed: 0, clash: true });
  const { stayed } = await value(review.undo());
  expect(stayed.map(({ path }) => path)).toEqual(['README.md']);
  expect(await text('README.md')).toBe(present);
});

const MENU = 'one\ntwo\nthree\nfour\n';
const read = { name: 'read_file', arguments: { path: 'README.md' } };
const edit = { path: 'README.md', edits: [{ old_text: '# Orders\n', new_text: `# Orders\n${MENU}` }] };

test.each([
  ['write_file', { path: 'README.md', content: README.replace('# Orders\n', `# Orders\n${MENU}`) }],
  ['edit_file', edit],
])(
  '%s: lines of the user between those of Earshot are not counted, and stay when the file is undone',
  async (name, args) => {
    const { review, put, text } = await beginWith(read, { name, arguments: args });
    const written = (await text('README.md')) ?? '';
    expect(written).toContain(MENU);
    await put('README.md', written.replace('two\n', 'two\nmine\nmine too\n'));
    expect(await review.file('README.md')).toMatchObject({ added: 4, removed: 0, clash: false });
    expect(await value(review.undo(['README.md']))).toEqual({ done: ['README.md'], stayed: [] });
    expect(await text('README.md')).toBe(README.replace('# Orders\n', '# Orders\nmine\nmine too\n'));
    expect(await review.files()).toEqual([]);
  },
);
