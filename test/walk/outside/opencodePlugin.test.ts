// The plugin for opencode as it is installed, in a process of its own, with a client like opencode's and the real hook.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { writeEntry } from '../../../src/node/scripts/scriptSpool.ts';
import { pokeWindows } from '../../../src/plugins/client/pokeWindows.ts';
import { isOwnPlugin, opencodePlugin } from '../../../src/plugins/hook/hookTargets.ts';
import { compileCache } from '../../support/compileCache.ts';
import { atTestEnd } from '../../support/endings.ts';
import { allowEars, makeEarsWorld, untilPending, untilWatched } from '../../support/plugins/ears.ts';

const hook = resolve(import.meta.dirname, '../../../src/bin/notificationsHook.ts');

/** Calls the plugin as opencode does: one JSON line for each call, with its arguments, and one for what came of it. */
const HOST = `
import { createInterface } from 'node:readline';
const { EarshotNotifications } = await import(process.argv[2]);
const prompts = [];
const client = { session: { prompt: async (given) => void prompts.push(given) } };
const plugin = await EarshotNotifications({ client, directory: process.argv[3] });
for await (const line of createInterface({ input: process.stdin })) {
  const { name, args } = JSON.parse(line);
  await plugin[name](...args);
  process.stdout.write(JSON.stringify({ args, prompts }) + '\\n');
}
`;

interface Called {
  readonly args: readonly { readonly output?: string; readonly parts?: readonly { readonly text: string }[] }[];
  readonly prompts: readonly { path: { id: string }; body: { parts: { text: string }[] } }[];
}

async function startOpencode(folder: string, home: string, command: string) {
  const place = join(home, 'opencode');
  await mkdir(place, { recursive: true });
  const text = opencodePlugin(command);
  expect(isOwnPlugin(text)).toBe(true);
  await writeFile(join(place, 'earshot.mjs'), text);
  await writeFile(join(place, 'host.mjs'), HOST);
  const env = { PATH: process.env['PATH'], HOME: home, EARSHOT_HOME: home, ...compileCache };
  const child = spawn(process.execPath, [join(place, 'host.mjs'), join(place, 'earshot.mjs'), folder], {
    ...{ env, stdio: ['pipe', 'pipe', 'inherit'] },
  });
  const ended = once(child, 'exit');
  atTestEnd(async () => {
    child.stdin.end();
    await ended;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (name: string, ...args: readonly object[]): Promise<Called> => {
    child.stdin.write(`${JSON.stringify({ name, args })}\n`);
    const { value } = (await lines.next()) as { value: string };
    return JSON.parse(value) as Called;
  };
}

const SESSION = { sessionID: 'ses_1' };

test('notifications are in the output of a tool, in the user’s message, and continue an idle session once', async () => {
  const world = await makeEarsWorld(['opencode']);
  const { folder, home, write } = world;
  await allowEars(world, { 'earshot.scripts.wake': true });
  await untilWatched(world);
  const command = `'${process.execPath}' --no-warnings '${hook}' --agent opencode`;
  const call = await startOpencode(folder, home, command);
  const useTool = (tool: string, args: object) =>
    call('tool.execute.after', { tool, ...SESSION, args }, { output: 'done' });
  const ring = async (text: string, wake: boolean) => {
    const entry = {
      at: new Date().toISOString(),
      dir: folder,
      text,
      name: 'bell',
      level: 'info' as const,
      ...(wake && { wake }),
    };
    await pokeWindows(await writeEntry(entry, home), folder, false, home);
    await untilPending(world, 'opencode', SESSION.sessionID);
  };
  expect((await useTool('read', { filePath: join(folder, 'src/menu.txt') })).args[1]).toEqual({ output: 'done' });
  await write('src/menu.txt', 'tea\nlemonade\n');
  await untilPending(world, 'opencode', SESSION.sessionID);
  const { args } = await useTool('list', {});
  expect(args[1]?.output).toMatch(/^done\n\n/);
  expect(args[1]?.output).toContain('+lemonade');

  await ring('the tap drips', false);
  const message = { message: { id: 'msg_1' }, parts: [] };
  const { args: written } = await call('chat.message', SESSION, message);
  expect(written[1]?.parts?.[0]).toMatchObject({ ...SESSION, messageID: 'msg_1', type: 'text', synthetic: true });
  expect(written[1]?.parts?.[0]?.text).toContain('the tap drips');
  const idle = { event: { type: 'session.idle', properties: { sessionID: SESSION.sessionID } } };
  expect((await call('event', { event: { type: 'session.updated' } })).prompts).toEqual([]);
  expect((await call('event', idle)).prompts).toEqual([]);

  await ring('the oven is hot', true);
  const { prompts } = await call('event', idle);
  expect(prompts).toHaveLength(1);
  expect(prompts[0]?.path).toEqual({ id: SESSION.sessionID });
  expect(prompts[0]?.body.parts[0]?.text).toContain('the oven is hot');
  // Its own message asks for nothing; the next message of the user does.
  await ring('the cat is out', false);
  expect((await call('chat.message', SESSION, message)).args[1]?.parts).toEqual([]);
  expect((await call('event', idle)).prompts).toHaveLength(1);
  expect((await call('chat.message', SESSION, message)).args[1]?.parts?.[0]?.text).toContain('the cat is out');
}, 120_000);

test('a hook that is gone, fails or prints nonsense changes nothing', async () => {
  const world = await makeEarsWorld(['opencode']);
  for (const command of ['no-such-program-of-earshot', 'exit 1', 'echo {nonsense', 'printf "null"', 'echo "[]"']) {
    const call = await startOpencode(world.folder, world.home, command);
    const { args } = await call('tool.execute.after', { tool: 'bash', ...SESSION, args: null }, { output: 'done' });
    expect(args[1], command).toEqual({ output: 'done' });
    const idle = { event: { type: 'session.idle', properties: { sessionID: SESSION.sessionID } } };
    expect((await call('event', idle)).prompts, command).toEqual([]);
  }
}, 60_000);
