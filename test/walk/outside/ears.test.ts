// earshot-ears: other agents get notifications while no window of VS Code has the folder open, and go on when one opens.
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEars } from '../../../src/bin/ears/ears.ts';
import { hubFolder } from '../../../src/node/hubFolder.ts';
import { isAlive } from '../../../src/node/kernelLock.ts';
import { writeEntry } from '../../../src/node/scripts/scriptSpool.ts';
import { folderToWatch } from '../../../src/plugins/client/ears.ts';
import { pokeWindows } from '../../../src/plugins/client/pokeWindows.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { atTestEnd } from '../../support/endings.ts';
import { makeEarsWorld, untilPending, untilWatched } from '../../support/plugins/ears.ts';
import { openListeningWindow } from '../../support/plugins/listeningWindow.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { MENU, makeOutsideFolders, readFileAs } from '../../support/plugins/outsideWorld.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

const { settings } = readSettings(() => undefined);

test('the hook starts it, a window that opens takes over, and after the window it is started again: nothing is lost or told twice', async () => {
  const world = await makeEarsWorld();
  const { folder, home, write } = world;
  await untilWatched(world);
  expect(await useTool(world, { event: 'SessionStart' })).toBe('');
  const first = await world.state();
  expect(first).toMatchObject({ root: folder, agents: ['claude-code'] });
  expect(await readFileAs(world)).toBe('');
  await write('src/menu.txt', `${MENU}milk\n`);
  await untilPending(world);
  const told = [await useTool(world)];
  expect(told[0]).toContain('+milk');
  expect(await useTool(world)).toBe('');
  // Pending when the window opens.
  await write('src/menu.txt', `${MENU}milk\njuice\n`);
  await untilPending(world);

  const window = await openListeningWindow(world.root, { home });
  expect(await world.state()).toBeUndefined();
  await expect.poll(() => isAlive(first?.pid ?? 0)).toBe(false);
  told.push(await useTool(world));
  await write('src/menu.txt', `${MENU}milk\njuice\ncider\n`);
  await untilPending(world);
  // Pending when the window closes.
  await window.close();
  expect(window.errors).toEqual([]);
  await write('src/menu.txt', `${MENU}milk\njuice\ncider\nlemonade\n`);
  await untilWatched(world);
  told.push(await useTool(world, { event: 'SessionStart' }));
  expect((await world.state())?.pid).not.toBe(first?.pid);
  // What happened meanwhile may be told already.
  await expect.poll(async () => (told.push(await useTool(world)), told.join('\n'))).toMatch(/^\+lemonade\b/m);
  told.push(await useTool(world));
  for (const drink of ['milk', 'juice', 'cider', 'lemonade']) {
    expect(told.join('\n').match(new RegExp(`^\\+${drink}\\b`, 'gm')), drink).toHaveLength(1);
  }
});

test('two never watch: a second one ends at once, and none starts beside a window', async () => {
  const { folder, home, root } = await makeOutsideFolders();
  const deps = { folder, home, logger: recordingLogger([]), settings: { current: settings } };
  const ears = await openEars(deps);
  expect(await openEars(deps)).toBeUndefined();
  const window = await openListeningWindow(root, { home });
  atTestEnd(() => window.close());
  await ears?.ended;
  expect(await openEars(deps)).toBeUndefined();
});

test('it ends after its time without a listener', async () => {
  const { folder, home } = await makeOutsideFolders();
  const errors: string[] = [];
  const ears = await openEars({
    ...{ folder, home, logger: recordingLogger(errors), settings: { current: settings }, idleMilliseconds: 50 },
  });
  await ears?.ended;
  expect(errors).toEqual([]);
});

test('an agent that it is not installed for is refused, with the next step', async () => {
  const world = await makeEarsWorld(['codex']);
  await untilWatched(world);
  await expect(untilPending(world)).rejects.toThrow(
    'Notifications are not installed for claude-code. The user can do that with earshot-ears install.',
  );
  expect(await world.state()).toMatchObject({ agents: [] });
});

test('a line of a script reaches the agents of the folder without a window', async () => {
  const world = await makeEarsWorld();
  const { folder, home } = world;
  await untilWatched(world);
  await useTool(world);
  const entry = {
    at: new Date().toISOString(),
    dir: folder,
    text: 'the oven is hot',
    name: 'oven',
    level: 'info',
  } as const;
  const id = await writeEntry(entry, home);
  expect(await pokeWindows(id, folder, false, home)).toBe(1);
  expect(await useTool(world)).toContain('the oven is hot');
  expect(await useTool(world)).toBe('');
});

test('a line that comes while nobody watches reaches every session once, whichever asks first', async () => {
  const world = await makeEarsWorld();
  const { folder, home } = world;
  await untilWatched(world);
  const sessions = ['s1', 's2', 's3'];
  for (const session of sessions) await useTool(world, { session, event: 'SessionStart' });
  process.kill((await world.state())?.pid ?? 0, 'SIGKILL');
  // As after a kill right before the list's copy of a title is written: only the log has it.
  for (const file of await readdir(join(home, '.earshot'), { recursive: true })) {
    if (file.endsWith('/title.json')) await writeFile(join(home, '.earshot', file), '{"title":""}');
  }
  const entry = {
    at: new Date().toISOString(),
    dir: folder,
    text: 'the oven is hot',
    name: 'oven',
    level: 'info',
  } as const;
  await writeEntry(entry, home);
  const told = new Map(sessions.map((session) => [session, '']));
  const ask = async () => {
    for (const session of sessions) told.set(session, (told.get(session) ?? '') + (await useTool(world, { session })));
    return [...told.values()].map((text) => text.split('the oven is hot').length - 1);
  };
  await expect.poll(ask, { timeout: 60_000 }).toEqual([1, 1, 1]);
  expect(await ask()).toEqual([1, 1, 1]);
});

test('a repository is watched as a whole; a home folder and a whole disk never', async () => {
  const { folder, home } = await makeEarsWorld();
  expect(folderToWatch(`${folder}/src`)).toBe(folder);
  expect(folderToWatch(home, home)).toBeUndefined();
  expect(folderToWatch('/')).toBeUndefined();
  expect(await hubFolder(folder, home)).toContain('hubs');
});
