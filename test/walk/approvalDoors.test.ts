// Approving an edit from outside the editor: the reason, the diff and *Always* are in every front end.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAcpxJoined } from '../support/acp/acpx.ts';
import { judgeWire } from '../support/acp/wireJudge.ts';
import { createPluginWorld, type PluginWorld, type PluginWorldOptions } from '../support/plugins/pluginWorld.ts';
import { cardOf } from '../support/webchat/pageCards.ts';
import { openStream, post } from '../support/webchat/pageStream.ts';
import { createWebChatWorld } from '../support/webchat/webChatWorld.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const edit = call('e', 'edit_file', { path: 'menu.txt', edits: [{ old_text: 'Tea', new_text: 'Cocoa' }] });
const REASON = 'a hook of the user wants you to decide: Look at it first.';

/** A window in which a hook of the user gives a reason to ask. */
async function openWindow<World extends PluginWorld>(
  program: string,
  create: (options: PluginWorldOptions) => Promise<World>,
  edits: readonly (typeof edit)[] = [edit],
  settings?: object,
): Promise<World> {
  const decision = { permissionDecision: 'ask', permissionDecisionReason: 'Look at it first.' };
  const output = JSON.stringify({ hookSpecificOutput: decision });
  const world = await create({
    programs: { [program]: { approve: true } },
    settings: settings ?? { hooks: { before_tool: [{ matcher: 'edit_file', command: ['printf', '%s', output] }] } },
    answers: [call('r', 'read_file', { path: 'menu.txt' }), ...edits, { text: ['Done.'] }],
  });
  await writeFile(join(world.headless.folder, 'menu.txt'), 'Tea\n');
  return world;
}

const rules = (world: PluginWorld) => world.headless.ports.permissions.rules;

test('a plugin gets the reason, the diff and what *Always* covers, and answers with it', async () => {
  const world = await openWindow('tea', createPluginWorld);
  const plugin = await world.attach('tea', { approve: true });
  const conversation = await world.conversation();
  await plugin.ask({ type: 'subscribe', sub_id: 's', conversation });
  await plugin.ask({ type: 'query', conversation, content: 'Rename the tea.' });
  const { data } = await plugin.event(({ respond }) => respond === 'tool_approval');
  expect(data).toMatchObject({
    id: 'e',
    reason: REASON,
    preview: { files: [{ path: 'menu.txt', hunks: [{ lines: ['-Tea', '+Cocoa'] }] }] },
    always: { covers: 'edit_file', scopes: ['conversation', 'folder'] },
  });
  const answer = { respond: 'tool_approval', tool_call_id: 'e', action: 'approve', always: { scope: 'folder' } };
  expect(await plugin.ask({ type: 'respond', sub_id: 's', ...answer })).toMatchObject({ type: 'done' });
  await plugin.event(({ data: { type } }) => type === 'query_complete');
  expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8')).toBe('Cocoa\n');
  expect(rules(world)).toMatchObject([{ rule: 'tool:edit_file' }]);
});

test('the web chat gets the reason, the diff and what *Always* covers, and answers with it', async () => {
  const world = await openWindow('tea', createWebChatWorld);
  const stream = await openStream(world, { page: 'page-0001', since: '0', conversation: '' });
  await post(world, 'page-0001', { type: 'queue', content: 'Rename the tea.' });
  const { approval } = await cardOf(stream, 'e', ({ state }) => state === 'approval');
  expect(approval).toMatchObject({
    reason: REASON,
    preview: { files: [{ path: 'menu.txt', hunks: [{ lines: ['-Tea', '+Cocoa'] }] }] },
    always: 'edit_file',
  });
  const answer = { type: 'approve', tool_call_id: 'e', action: 'approve', always: { scope: 'folder' } } as const;
  await post(world, 'page-0001', { ...answer, revision: approval?.revision });
  await cardOf(stream, 'e', ({ state }) => state === 'done');
  expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8')).toBe('Cocoa\n');
  expect(rules(world)).toMatchObject([{ rule: 'tool:edit_file' }]);
});

test.skipIf(process.platform === 'win32')(
  'acpx, joined to a window, gets the reason, the diff and *Always*, and approves the edit there',
  async () => {
    const world = await openWindow('acp', createPluginWorld);
    const { folder } = world.headless;
    const acpx = await startAcpxJoined({ folder, home: world.home });
    const { code, output } = await acpx.run('--approve-all', '--format', 'json', 'exec', 'Rename the tea.');
    expect(code, output).toBe(0);
    expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Cocoa\n');
    const lines = (await acpx.wire()).flat();
    expect(judgeWire(lines)).toEqual([]);
    const asked = lines.map(({ line }) => line).find((line) => line.includes('session/request_permission')) ?? '';
    expect(JSON.parse(asked)).toMatchObject({
      params: {
        toolCall: {
          toolCallId: 'e',
          content: [
            { type: 'diff', path: join(folder, 'menu.txt'), oldText: 'Tea\n', newText: 'Cocoa\n' },
            { type: 'content', content: { text: REASON } },
          ],
        },
        options: [
          { kind: 'allow_once' },
          { kind: 'allow_always', name: 'Always allow in this session: edit_file' },
          { kind: 'allow_always', name: 'Always allow in this folder: edit_file' },
          { kind: 'reject_once' },
        ],
      },
    });
    expect(world.errors).toEqual([]);
  },
);

test.skipIf(process.platform === 'win32')(
  'an *Always* that acpx chooses, joined to a window, is a rule of the window, which is not asked again',
  async () => {
    const again = call('f', 'edit_file', { path: 'menu.txt', edits: [{ old_text: 'Cocoa', new_text: 'Coffee' }] });
    const world = await openWindow('acp', createPluginWorld, [edit, again], {});
    const { folder } = world.headless;
    const acpx = await startAcpxJoined({ folder, home: world.home });
    expect(await acpx.promptAlways('Rename the tea.')).toMatchObject({ status: 'completed' });
    expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Coffee\n');
    expect(rules(world)).toMatchObject([{ rule: 'tool:edit_file' }]);
    const lines = (await acpx.wire()).flat();
    expect(lines.filter(({ line }) => line.includes('session/request_permission'))).toHaveLength(1);
    expect(world.errors).toEqual([]);
  },
);
