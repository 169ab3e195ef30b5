// An outside agent edits a file that somebody else changes at the same time: the other's change is reported, the agent's
// own is not, however short the time between them.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileChanged } from '../../../src/core/notify/wording/fileChange.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { MENU, type OutsideWorld, openOutsideWorld, readFileAs } from '../../support/plugins/outsideWorld.ts';

/** Writes the file twice without a pause, as somebody else and then the agent, and runs the agent's hook. */
async function editAfter(
  world: OutsideWorld,
  foreign: string,
  own: string,
  use: { tool: string; input: object; response?: object },
) {
  expect(await readFileAs(world)).toBe('');
  await world.write('src/menu.txt', foreign);
  await world.write('src/menu.txt', own);
  const { tool, input, response = {} } = use;
  return useTool(world, { tool, input, more: { tool_response: response } });
}

const claudeEdit = (world: OutsideWorld, original: string | null) => {
  const file_path = join(world.folder, 'src/menu.txt');
  const strings = { old_string: 'coffee', new_string: 'cider' };
  const response = { filePath: file_path, oldString: 'coffee', newString: 'cider', originalFile: original };
  return { tool: 'Edit', input: { file_path, ...strings }, response };
};

const patch = (world: OutsideWorld) => ({
  tool: 'apply_patch',
  input: {
    command: `*** Begin Patch\n*** Update File: ${join(world.folder, 'src/menu.txt')}\n@@\n tea\n-coffee\n+cider\n*** End Patch`,
  },
});

test('a change right before an edit by Claude is reported without the edit', async () => {
  const world = await openOutsideWorld();
  const foreign = `${MENU}soda\n`;
  const text = await editAfter(world, foreign, foreign.replace('coffee', 'cider'), claudeEdit(world, foreign));
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
  expect(await useTool(world)).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('a change right before an edit is found from the replaced text if the agent does not say what the file was', async () => {
  const world = await openOutsideWorld();
  const foreign = `${MENU}soda\n`;
  const { tool, input } = claudeEdit(world, null);
  const text = await editAfter(world, foreign, foreign.replace('coffee', 'cider'), { tool, input });
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
});

test('a change right before a patch by Codex is reported without the patch', async () => {
  const world = await openOutsideWorld();
  const foreign = `${MENU}soda\n`;
  const text = await editAfter(world, foreign, foreign.replace('coffee', 'cider'), patch(world));
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
  expect(await useTool(world)).toBe('');
});

test('a change that a whole write by Claude replaced is reported', async () => {
  const world = await openOutsideWorld();
  const foreign = `${MENU}soda\n`;
  const file_path = join(world.folder, 'src/menu.txt');
  const use = {
    tool: 'Write',
    input: { file_path, content: 'cider\n' },
    response: { type: 'update', originalFile: foreign },
  };
  const text = await editAfter(world, foreign, 'cider\n', use);
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
});

test('a change right after an edit, before the hook runs, is reported without the edit', async () => {
  const world = await openOutsideWorld();
  expect(await readFileAs(world)).toBe('');
  await world.write('src/menu.txt', MENU.replace('coffee', 'cider'));
  await world.write('src/menu.txt', `${MENU.replace('coffee', 'cider')}soda\n`);
  const { tool, input, response } = claudeEdit(world, MENU);
  const text = await useTool(world, { tool, input, more: { tool_response: response } });
  expect(text).toContain('+soda');
  expect(text).not.toContain('-coffee');
  expect(await useTool(world)).toBe('');
});

test.each(['\n', '\r\n'])(
  'an edit without another change reports nothing, whatever the line ends (%j)',
  async (end) => {
    const world = await openOutsideWorld();
    const before = MENU.replaceAll('\n', end);
    await world.write('src/menu.txt', before);
    expect(await readFileAs(world)).toBe('');
    await world.write('src/menu.txt', before.replace('coffee', 'cider'));
    // Claude names the text with plain line ends.
    const { tool, input, response } = claudeEdit(world, MENU);
    expect(await useTool(world, { tool, input, more: { tool_response: response } })).toBe('');
    expect(await useTool(world)).toBe('');
    expect(await useTool(world, { event: 'UserPromptSubmit' })).toBe('');
  },
);

test('twelve edits, each right after a change by somebody else, report each change once', async () => {
  const world = await openOutsideWorld();
  let text = MENU;
  expect(await readFileAs(world)).toBe('');
  for (let index = 0; index < 12; index += 1) {
    const foreign = `${text}soda ${index}\n`;
    await world.write('src/menu.txt', foreign);
    text = foreign.replace(index === 0 ? 'coffee' : `cider ${index - 1}`, `cider ${index}`);
    await world.write('src/menu.txt', text);
    const file_path = join(world.folder, 'src/menu.txt');
    const input = {
      file_path,
      old_string: index === 0 ? 'coffee' : `cider ${index - 1}`,
      new_string: `cider ${index}`,
    };
    const told = await useTool(world, { tool: 'Edit', input, more: { tool_response: { originalFile: foreign } } });
    expect(told.match(/^[-+][\w ]+/gm)).toEqual([`+soda ${index}`]);
  }
  expect(await useTool(world)).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('a report of the agent’s own edit that was held while the hook ran is not queued', async () => {
  const world = await openOutsideWorld();
  expect(await readFileAs(world)).toBe('');
  const now = Buffer.from(MENU.replace('coffee', 'cider'));
  await world.write('src/menu.txt', now.toString());
  const { tool, input, response } = claudeEdit(world, MENU);
  expect(await useTool(world, { tool, input, more: { tool_response: response } })).toBe('');
  const hash = createHash('sha256').update(now).digest('hex');
  const held = fileChanged('src/menu.txt', Buffer.from(MENU), { bytes: now, hash }, { type: 'outside' });
  await world.window.headless.earshot.publish({ ...held, at: new Date().toISOString() });
  expect(await useTool(world)).toBe('');
});

test('a report of the agent’s own edit that comes while the other’s change is stored is not carried with it', async () => {
  const world = await openOutsideWorld();
  const foreign = `${MENU}soda\n`;
  expect(await readFileAs(world)).toBe('');
  const now = Buffer.from(foreign.replace('coffee', 'cider'));
  const hash = createHash('sha256').update(now).digest('hex');
  const late = fileChanged('src/menu.txt', Buffer.from(MENU), { bytes: now, hash }, { type: 'outside' });
  const [listener] = world.window.listeners.live;
  if (listener === undefined) throw new Error('Claude does not listen.');
  const { log } = listener;
  let published: Promise<unknown> | undefined;
  const held = log.onDidAppend(({ event }) => {
    const isOthers = event.type === 'notification_queued' && !event.notification.message.includes('cider');
    if (!isOthers) return;
    held.dispose();
    published = world.window.headless.earshot.publish({ ...late, at: new Date().toISOString() });
  });
  await world.write('src/menu.txt', now.toString());
  const { tool, input, response } = claudeEdit(world, foreign);
  const text = await useTool(world, { tool, input, more: { tool_response: response } });
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
  await published;
});
