// Refused and failed calls: the model gets a text to act on, and the card a sentence for people.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { exportMarkdown } from '../../../src/core/conversation/export.ts';
import { eventsOf } from '../../support/walk/deliveryWalks.ts';
import { beginWalk, type WalkOptions } from '../../support/walk/walking.ts';

async function failuresOf(calls: readonly (readonly [string, Record<string, unknown>])[], options: WalkOptions = {}) {
  const answers: ScriptedAnswer[] = calls.map(([name, args], index) => ({
    calls: [{ id: `c${index}`, name, arguments: args }],
  }));
  const walked = await beginWalk([...answers, { text: ['Done.'] }], options);
  await writeFile(join(walked.headless.folder, 'a.txt'), 'one\n');
  await walked.go();
  return walked.log.state.transcript.items.flatMap((item) =>
    item.type === 'tool' ? [`${item.name} ${item.state} ${item.failure ?? 'nothing'}`] : [],
  );
}

const settings = { 'approvals.mode': 'all' };
const edit = { path: 'a.txt', edits: [{ old_text: 'two', new_text: 'three' }] };

test('a missing file, an unknown tool, invalid arguments and a text that is not in the file have their sentences', async () => {
  const failures = await failuresOf(
    [
      ['read_file', { path: 'none.txt' }],
      ['read_files', {}],
      ['read_file', { file: 'a.txt' }],
      ['edit_file', edit],
      ['write_file', { path: 'a.txt', content: 'two\n' }],
    ],
    { settings },
  );
  expect(failures).toEqual([
    'read_file failed Not found.',
    'read_files failed No such tool.',
    'read_file failed The arguments are invalid.',
    'edit_file failed The file has other content.',
    'write_file failed The file has other content.',
  ]);
});

test('a call in an untrusted workspace and a call in Plan mode have their sentences', async () => {
  expect(await failuresOf([['edit_file', edit]], { trusted: false })).toEqual([
    'edit_file failed This workspace is not trusted.',
  ]);
  expect(await failuresOf([['edit_file', edit]], { settings: { mode: 'plan' } })).toEqual([
    'edit_file failed Plan mode only reads.',
  ]);
});

test('the request of a prompt file shows what was typed, and keeps the text for the model', async () => {
  const walked = await beginWalk([{ text: ['Done.'] }]);
  const folder = join(walked.headless.folder, '.github/prompts');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'tea.prompt.md'), 'Brew tea, step by step.\n');
  await walked.go('/tea green');
  const [item] = walked.log.state.transcript.items;
  expect(item).toMatchObject({ text: '/tea green', expanded: 'Brew tea, step by step.\n\ngreen' });
  expect(walked.messages(0).at(-1)).toMatchObject({ content: 'Brew tea, step by step.\n\ngreen' });
  expect(walked.log.state.summary.title).toBe('/tea green');
  const events = [...(await eventsOf(walked, 'conversation_started')), ...(await eventsOf(walked, 'chat_request'))];
  const exported = exportMarkdown({ id: 'x', events });
  expect(exported).toMatch(/^# \/tea green\n/);
  expect(exported).toContain('## You\n\n/tea green\n\n<details>\n<summary>Text sent to the model</summary>');
});
