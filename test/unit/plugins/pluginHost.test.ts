// Approval by command and hashes, the shipped examples, describe, and the window's socket.
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { attachPlugin } from '../../../src/plugins/client/pluginClient.ts';
import { type Program } from '../../../src/protocol/plugin.ts';
import { createPluginWorld, type PluginWorld } from '../../support/plugins/pluginWorld.ts';
import { attachRaw, writeNodeScript } from '../../support/plugins/rawPlugin.ts';

const root = resolve(import.meta.dirname, '../../..');
const examples = join(root, 'src/plugins/examples');

function program(command: string[], more: Partial<Program> = {}): Program {
  return { command, run: 'ask', start: 'manual', options: {}, approve: false, ...more };
}

/** A script in the workspace, as a project would have it. */
async function script(world: PluginWorld, name: string, text: string): Promise<string> {
  const path = resolve(world.headless.folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
}

const QUICK = `echo '{"type":"exit","code":0}'`;

test('the first run asks with command and hashes; later runs ask only if the program or one of its files changed', async () => {
  const world = await createPluginWorld();
  const { host, consents, programs, user } = world;
  await script(world, 'tool.sh', QUICK);
  await script(world, 'input.sh', QUICK);
  programs.set('tea', program(['./tool.sh', 'input.sh', '--mode=fast', '--config=input.sh']));
  const run = async () => {
    const ran = await host.run('tea');
    await host.ended('tea');
    return ran.ok;
  };
  user.approves = false;
  expect(await run()).toBe(false);
  user.approves = true;
  expect(await run()).toBe(true);
  const sha = createHash('sha256')
    .update(await readFile(join(world.headless.folder, 'tool.sh')))
    .digest('hex');
  expect(consents.at(-1)).toMatchObject({
    name: 'tea',
    command: ['./tool.sh', 'input.sh', '--mode=fast', '--config=input.sh'],
  });
  expect(consents.at(-1)).toMatchObject({
    files: [{ sha256: sha }, { path: '/bin/sh' }, { path: expect.stringMatching(/input\.sh$/) as string }],
  });
  expect(await run()).toBe(true);
  expect(consents).toHaveLength(2);
  await script(world, 'input.sh', `${QUICK} # changed`);
  expect(await run()).toBe(true);
  expect(consents).toHaveLength(3);
  await script(world, 'tool.sh', `${QUICK} # changed`);
  expect(await run()).toBe(true);
  expect(consents).toHaveLength(4);
  programs.set('tea', program(['./tool.sh', 'input.sh']));
  expect(await run()).toBe(true);
  expect(consents).toHaveLength(5);
});

test('a program does not get the keys of models', async () => {
  const world = await createPluginWorld();
  const keys = ['EARSHOT_API_KEY', 'EARSHOT_API_KEY_WORK'];
  for (const name of keys) process.env[name] = 'secret';
  await script(world, 'tool.sh', `env > env.txt; ${QUICK}`);
  world.programs.set('tea', program(['./tool.sh'], { run: 'allow' }));
  await world.host.run('tea');
  await world.host.ended('tea');
  for (const name of keys) Reflect.deleteProperty(process.env, name);
  const env = await readFile(resolve(world.headless.folder, 'env.txt'), 'utf8');
  expect(env).toContain('PATH=');
  expect(env).not.toContain('secret');
});

test('a program that changes while the user is asked does not run', async () => {
  const world = await createPluginWorld();
  await script(world, 'tool.sh', QUICK);
  world.programs.set('tea', program(['./tool.sh']));
  // The file is overwritten while the question is open.
  Object.defineProperty(world.user, 'approves', {
    get: () => {
      appendFileSync(join(world.headless.folder, 'tool.sh'), '# evil');
      return true;
    },
  });
  expect(await world.host.run('tea')).toMatchObject({ ok: false, failure: { code: 'not_approved' } });
});

test('run: deny, an untrusted workspace and a missing program refuse; run: allow does not ask', async () => {
  const world = await createPluginWorld();
  const { host, programs, user, consents } = world;
  await script(world, 'tool.sh', QUICK);
  programs.set('denied', program(['./tool.sh'], { run: 'deny' }));
  const own = await script(world, '../own/tool.sh', QUICK);
  programs.set('allowed', program([own], { run: 'allow' }));
  expect(await host.run('denied')).toMatchObject({ ok: false, failure: { code: 'not_approved' } });
  expect(await host.run('nothing')).toMatchObject({ ok: false });
  user.trusts = false;
  expect(await host.run('allowed')).toMatchObject({ ok: false, failure: { code: 'untrusted' } });
  programs.set('started', program([own], { run: 'allow', start: 'window' }));
  await host.startAll();
  expect(host.pidOf('started')).toBeUndefined();
  user.trusts = true;
  await host.startAll();
  await host.ended('started');
  expect(world.output.some((line) => line.startsWith('started info: Started'))).toBe(true);
  expect(consents).toEqual([]);
  await host.refresh();
  expect(host.statuses.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'denied denied',
    'allowed stopped',
    'started stopped',
  ]);
});

test('a program that appears or changes after its setting is checked again without being run', async () => {
  const world = await createPluginWorld();
  const { host, programs } = world;
  const state = () => host.statuses.map((one) => `${one.name} ${one.state}`).join();
  programs.set('tea', program(['./tools/tea.sh', 'leaves.txt']));
  await host.refresh();
  expect(host.statuses).toMatchObject([
    { state: 'failed', detail: expect.stringContaining('was not found') as string },
  ]);
  await mkdir(join(world.headless.folder, 'tools'));
  const path = await script(world, 'tools/tea.sh', 'exit 3');
  await expect.poll(state, { interval: 5 }).toBe('tea not_approved');
  expect(await host.run('tea')).toMatchObject({ ok: true });
  await host.ended('tea');
  expect(state()).toBe('tea failed');
  // The approval was given before this file existed.
  await writeFile(join(world.headless.folder, 'leaves.txt'), 'green');
  await expect.poll(state, { interval: 5 }).toBe('tea not_approved');
  programs.set('tea', program(['./tools/tea.sh']));
  await host.approve('tea');
  expect(state()).toBe('tea stopped');
  await rm(path);
  await expect.poll(state, { interval: 5 }).toBe('tea failed');
});

test('describe starts the program with describe instead of init', async () => {
  const world = await createPluginWorld();
  world.programs.set('titles', program([join(examples, 'titles.sh')], { run: 'allow' }));
  expect(await world.host.describe('titles')).toEqual({
    ok: true,
    value: { name: 'titles', version: '1', description: 'Lists titles.' },
  });
  expect(world.host.statuses).toMatchObject([{ description: { name: 'titles' } }]);
});

test('a program can be approved without being run, and can then be described', async () => {
  const world = await createPluginWorld();
  world.programs.set('titles', program([join(examples, 'titles.sh')]));
  await world.host.refresh();
  expect(world.host.statuses).toMatchObject([{ state: 'not_approved' }]);
  expect(await world.host.describe('titles')).toMatchObject({ ok: false, failure: { code: 'not_approved' } });
  expect(await world.host.approve('titles')).toMatchObject({ ok: true });
  expect(world.host.statuses).toMatchObject([{ state: 'stopped', description: { name: 'titles' } }]);
  expect(world.consents).toHaveLength(1);
});

test('the example that uses only init, describe, list_conversations, print and exit works', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['Hi.'] }] });
  const id = await world.conversation();
  await world.turn(id, 'Which tea is this?');
  world.programs.set('titles', program([join(examples, 'titles.sh')]));
  expect(await world.host.run('titles')).toMatchObject({ ok: true });
  expect(await world.host.ended('titles')).toEqual({ code: 0 });
  expect(world.output).toContain('titles: Which tea is this?');
});

test('the shell example of at most twenty lines approves every tool call', async () => {
  const text = await readFile(join(examples, 'approve.sh'), 'utf8');
  const code = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  expect(code.length).toBeLessThanOrEqual(20);
  const calls = [{ id: 'a1', name: 'run_command', arguments: { command: 'echo "one"' } }];
  const world = await createPluginWorld({
    answers: [{ calls }, { calls: [{ ...calls[0], id: 'a2' } as (typeof calls)[0]] }],
  });
  const id = await world.conversation();
  await copyFile(join(examples, 'approve.sh'), join(world.headless.folder, 'approve.sh'));
  world.programs.set('approver', program(['./approve.sh'], { approve: true }));
  expect(await world.host.run('approver')).toMatchObject({ ok: true });
  await world.turn(id, 'Go.');
  const events = await world.headless.events(id);
  expect(events.match(/"by":"plugin:approver"/g)).toHaveLength(2);
  await world.host.stop('approver');
  expect(world.host.statuses).toMatchObject([{ state: 'stopped' }]);
  expect(world.output).toContain('approver: Approved a1.');
});

test('the TypeScript example on the typed client streams an answer into its output', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['A tea ', 'shop.'] }] });
  const node = join(world.headless.folder, 'node.sh');
  await writeNodeScript(node, '"$@"');
  world.programs.set('summarize', program([node, join(examples, 'summarize.ts')]));
  expect(await world.host.run('summarize', ['What', 'is it?'])).toMatchObject({ ok: true });
  expect(await world.host.ended('summarize')).toEqual({ code: 0 });
  const printed = world.output
    .filter((line) => line.startsWith('summarize: '))
    .map((line) => line.slice('summarize: '.length));
  expect(printed.join('')).toBe('A tea shop.');
  expect(await world.host.describe('summarize')).toMatchObject({ ok: true, value: { version: '1.0.0' } });
});

test('restart runs the plugin again with the same arguments', async () => {
  const world = await createPluginWorld();
  const plugin = await world.spawn('tea', {}, ['milk']);
  expect(plugin.received[0]).toMatchObject({ type: 'init', args: ['milk'] });
  const restarted = world.host.restart('tea');
  await plugin.next('shutdown');
  plugin.send({ type: 'exit', code: 0 });
  plugin.destroy();
  expect(await restarted).toMatchObject({ ok: true });
  expect(await (await plugin.relay.connected()).next('init')).toMatchObject({ args: ['milk'] });
  expect(await world.host.run('tea')).toMatchObject({
    ok: false,
    failure: { message: 'The program plugin tea is running.' },
  });
});

test('the window’s socket is private; attach asks once for each name; listeners and others are refused', async () => {
  const world = await createPluginWorld();
  const { listener, attached, user, consents } = world;
  expect((await stat(listener.path)).mode & 0o777).toBe(0o600);
  expect((await stat(join(listener.path, '..'))).mode & 0o777).toBe(0o700);
  const refused = async (first: object | string) => {
    const plugin = await attachRaw(listener.path, typeof first === 'string' ? {} : first);
    if (typeof first === 'string') plugin.send(first);
    const { message } = await plugin.next('error');
    await plugin.closed;
    return message;
  };
  expect(await refused({ type: 'list_conversations' })).toContain('must be {"type":"attach"');
  expect(await refused({ type: 'attach', name: 'Bad Name', version: '1' })).toContain('name');
  expect(await refused({ type: 'attach', name: 'ear', version: '1', listener: 'claude' })).toContain(
    'no outside agents',
  );
  user.approves = false;
  expect(await refused({ type: 'attach', name: 'tea', version: '1' })).toContain('not approved');
  user.approves = true;
  await world.attach('tea');
  await world.attach('tea');
  expect(consents).toEqual([
    { name: 'tea', version: '1', known: false },
    { name: 'tea', version: '1', known: false },
  ]);
  world.programs.set('tea', program(['x'], { run: 'deny' }));
  expect(await refused({ type: 'attach', name: 'tea', version: '1' })).toContain('not approved');
  user.trusts = false;
  expect(await refused({ type: 'attach', name: 'milk', version: '1' })).toContain('untrusted');
  expect(attached.statuses).toMatchObject([{ name: 'tea', state: 'running', attached: true }, { name: 'tea' }]);
});

test('lines sent right after attach wait for the user’s answer', async () => {
  const world = await createPluginWorld();
  const plugin = await attachRaw(world.listener.path, { type: 'attach', name: 'tea', version: '1' });
  plugin.send({ type: 'read_config', path: 'mode', id: 'early' });
  expect(await plugin.next('config')).toMatchObject({ id: 'early' });
  expect(plugin.received.map(({ type }) => type)).toEqual(['init', 'config']);
  plugin.destroy();
  await plugin.closed;
});

test('where attach needs a token, as on Windows, no program can attach without the right one', async () => {
  const world = await createPluginWorld({ token: 'leaves' });
  for (const token of [undefined, '', 'milk']) {
    const plugin = await attachRaw(world.listener.path, { type: 'attach', name: 'tea', version: '1', token });
    expect(await plugin.next('error')).toMatchObject({
      request: 'attach',
      message: expect.stringMatching(/^token: /) as string,
    });
    await plugin.closed;
  }
  expect(world.consents).toEqual([]);
  const describe = { name: 'tea', version: '1', description: '' };
  const client = attachPlugin(world.listener.path, 'tea', '1', { describe, run: async () => 7 }, 'leaves');
  expect(await client.ended).toBe(7);
});

test('a program that sends everything at once and closes its half still gets the answers', async () => {
  const world = await createPluginWorld();
  const socket = connect({ path: world.listener.path, allowHalfOpen: true });
  const lines = [{ type: 'attach', name: 'tea', version: '1' }, { type: 'list_conversations' }, { type: 'exit' }];
  socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const types: unknown[] = [];
  for await (const line of createInterface({ input: socket })) types.push((JSON.parse(line) as { type: unknown }).type);
  expect(types).toEqual(['init', 'conversations']);
});

test('the typed client attaches to a window: requests resolve or reject, events arrive, shutdown ends it', async () => {
  const world = await createPluginWorld({ answers: [{ text: ['Hi.'] }] });
  const id = await world.conversation();
  const events: string[] = [];
  const { promise: complete, resolve: completed } = Promise.withResolvers<void>();
  const client = attachPlugin(world.listener.path, 'typed', '1', {
    describe: { name: 'typed', version: '1', description: '' },
    event: ({ data }) => {
      events.push(data.type);
      if (data.type === 'query_complete') completed();
    },
    run: async (own) => {
      await expect(own.request('read_events', { conversation: 'nowhere' })).rejects.toThrow(
        'not the id of a conversation',
      );
      const { seq } = await own.request('subscribe', { sub_id: 's', conversation: id });
      expect(seq).toBe(1);
      await own.request('query', { conversation: id, content: 'Hello.' });
      await complete;
      own.log('info', 'complete');
      await own.shutDown;
      return 0;
    },
  });
  await complete;
  expect(events).toContain('chat_response');
  await world.attached.stop('typed');
  expect(await client.ended).toBe(0);
  expect(world.output).toContain('typed info: complete');
});

test('the typed client loads nothing but Node’s own modules', async () => {
  const text = await readFile(join(root, 'src/plugins/client/pluginClient.ts'), 'utf8');
  const loaded = [...text.matchAll(/^import (?!type )[^;]* from '([^']+)'/gm)].map(([, name]) => name);
  expect(loaded).toEqual(['node:crypto', 'node:net', 'node:stream']);
});
