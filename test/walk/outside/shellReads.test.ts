// An outside agent reads files by commands, as Codex always does: what a command showed counts as read.
import { expect, test } from 'vitest';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import {
  changedTo,
  MENU,
  type OutsideWorld,
  openOutsideWorld,
  readFileAs,
} from '../../support/plugins/outsideWorld.ts';

const LONG = Array.from({ length: 40 }, (_, index) => `drink ${index + 1}\n`).join('');

/** Runs the hook as after a command that printed this. */
function command(world: OutsideWorld, line: string, printed: unknown): Promise<string> {
  return useTool(world, { tool: 'Bash', input: { command: line }, more: { tool_response: printed } });
}

test.each([
  ['Codex', 'cat src/menu.txt', MENU],
  ['Claude', 'cd src && cat menu.txt', { stdout: MENU, stderr: '', interrupted: false }],
])('a change of a file that a command of %s showed is reported', async (_, line, printed) => {
  const world = await openOutsideWorld();
  expect(await command(world, line, printed)).toBe('');
  const queued = world.event(changedTo('+soda'));
  await world.write('src/menu.txt', `${MENU}soda\n`);
  await queued;
  expect(await command(world, 'true', '')).toContain('+soda');
  expect(await command(world, 'true', '')).toBe('');
  expect(world.window.errors).toEqual([]);
});

test('a change right before a patch is reported if a command showed the file before', async () => {
  const world = await openOutsideWorld();
  expect(await command(world, "sed -n '1,200p' src/menu.txt", MENU)).toBe('');
  await world.write('src/menu.txt', `${MENU}soda\n`);
  await world.write('src/menu.txt', `${MENU}soda\n`.replace('coffee', 'cider'));
  const patch = '*** Begin Patch\n*** Update File: src/menu.txt\n@@\n tea\n-coffee\n+cider\n*** End Patch\n';
  const text = await useTool(world, { tool: 'apply_patch', input: { command: patch } });
  expect(text).toContain('+soda');
  expect(text).not.toContain('cider');
});

test('of lines that a command showed only these count as read', async () => {
  const world = await openOutsideWorld();
  await world.write('src/menu.txt', LONG);
  expect(await command(world, "sed -n '10,19p' src/menu.txt", LONG.split('\n').slice(9, 19).join('\n'))).toBe('');
  const [listener] = world.window.listeners.live;
  expect(listener?.log.state.seen.get('src/menu.txt')?.part).toEqual({ ranges: [[10, 19]], of: 40 });
  const queued = world.event(changedTo('+soda'));
  await world.write('src/menu.txt', LONG.replace('drink 12\n', 'soda\n'));
  await queued;
  expect(await command(world, 'true', '')).toContain('-drink 12\n+soda');
});

const beginnings: readonly [string, (world: OutsideWorld) => Promise<string>][] = [
  ['a command', (world) => command(world, 'head -n 3 src/menu.txt', MENU)],
  ['a read', (world) => useTool(world, { tool: 'Read', input: { file_path: 'src/menu.txt', limit: 3 } })],
];

test.each(beginnings)(
  '%s that shows only the beginning of a changed file does not hide the change',
  async (_, show) => {
    const world = await openOutsideWorld();
    expect(await readFileAs(world)).toBe('');
    await world.write('src/menu.txt', `${MENU}soda\n`);
    expect(await show(world)).toContain('+soda');
    expect(await command(world, 'true', '')).toBe('');
  },
);

test.each(beginnings)(
  '%s that shows the beginning of a file after its change was queued leaves that queued',
  async (_, show) => {
    const world = await openOutsideWorld();
    expect(await readFileAs(world)).toBe('');
    const queued = world.event(changedTo('+soda'));
    await world.write('src/menu.txt', `${MENU}soda\n`);
    await queued;
    expect(await show(world)).toContain('+soda');
    expect(await command(world, 'true', '')).toBe('');
  },
);

test.each([
  ['ls -l src/menu.txt', '-rw-r--r-- 1 tea tea 17 Nov 18 08:00 src/menu.txt\n'],
  ['git show v1:src/menu.txt', 'milk\nrum\njuice\n'],
])('a file that %s only names does not count as read', async (line, printed) => {
  const world = await openOutsideWorld();
  expect(await readFileAs(world, 'src/other.txt')).toBe('');
  expect(await command(world, line, printed)).toBe('');
  await world.write('src/menu.txt', `${MENU}soda\n`);
  expect(await command(world, 'true', '')).toBe('');
});
