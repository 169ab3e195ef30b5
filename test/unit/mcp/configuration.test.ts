// The configuration of MCP servers: what is read, merged, replaced and refused, and what the user approves.
import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FailureError } from '../../../src/base/errors.ts';
import { parseJsonc } from '../../../src/base/json/jsonc.ts';
import {
  type ConfiguredServer,
  mergeConfigurations,
  readConfigText,
  readConfigValue,
} from '../../../src/mcp/config/configuration.ts';
import { prepareLaunch, proveLaunch } from '../../../src/mcp/config/launch.ts';
import { replaceVariables, type VariableDeps } from '../../../src/mcp/config/variables.ts';

const user = { label: 'the user settings', workspace: false };
const workspace = { label: '.vscode/mcp.json', workspace: true, folder: '/w' };

const variables: VariableDeps = {
  folder: '/w',
  folders: [{ name: 'tea', absolute: '/w/tea' }],
  environment: { TOKEN: 't0', PATH: process.env['PATH'] },
  input: async (id) => (id === 'key' ? 'secret-value' : undefined),
  setting: (name) => (name === 'editor.tabSize' ? '2' : undefined),
};

function only(config: object): ConfiguredServer {
  const { servers, problems } = readConfigValue({ servers: { s: config } }, user);
  expect(problems).toEqual([]);
  const [server] = servers;
  if (server === undefined) throw new Error('no server');
  return server;
}

test('with several folders a server runs in the folder whose file configures it', async () => {
  const text = JSON.stringify({
    servers: { s: { command: 'node', args: ['${workspaceFolder}', '${workspaceFolder:tea}'] } },
  });
  const read = ['/w/tea', '/w/api'].map((folder) => readConfigText(text, { ...workspace, folder }).servers[0]);
  const launches = await Promise.all(
    read.flatMap((server) =>
      server === undefined ? [] : [prepareLaunch(server, { ...variables, folder: server.source.folder ?? '' })],
    ),
  );
  expect(launches.map((launch) => launch.type === 'stdio' && [launch.folder, ...launch.args])).toEqual([
    ['/w/tea', '/w/tea', '/w/tea'],
    ['/w/api', '/w/api', '/w/tea'],
  ]);
});

test('comments and trailing commas are allowed, strings are not changed', () => {
  expect(parseJsonc('\ufeff{ // a\n "a": "// no, /* no */", /* b */ "b": [1, 2, ], }')).toEqual({
    a: '// no, /* no */',
    b: [1, 2],
  });
  expect(() => parseJsonc('{"a": 1')).toThrow();
  expect(() => parseJsonc('{"a": "\\"} /*')).toThrow();
});

test('both forms of files are read, and every problem names its place', () => {
  const { servers } = readConfigText(
    '{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b/mcp"}}}',
    workspace,
  );
  expect(servers.map(({ name, config }) => [name, 'url' in config])).toEqual([
    ['a', false],
    ['b', true],
  ]);
  const bad = { servers: { a: { command: 5 }, b: { url: '' }, 'c\n': { command: 'x' } }, inputs: [{ type: 'x' }] };
  expect(readConfigValue(bad, workspace).problems.map((problem) => problem.split(':').slice(0, 3).join(':'))).toEqual([
    expect.stringContaining('.vscode/mcp.json: inputs[0]'),
    expect.stringContaining('.vscode/mcp.json: a: command'),
    expect.stringContaining('.vscode/mcp.json: b: url'),
    expect.stringContaining('.vscode/mcp.json: c\n'),
  ]);
  expect(readConfigText('{', workspace).problems).toEqual([expect.stringContaining('is not valid JSON')]);
  expect(readConfigText('['.repeat(5000) + ']'.repeat(5000), workspace).problems).toHaveLength(1);
});

test('a sandbox is refused, not ignored', () => {
  const refused = (config: object) => readConfigValue({ servers: { s: { command: 'x', ...config } } }, user);
  expect(refused({ sandbox: {} })).toMatchObject({
    servers: [],
    problems: [expect.stringContaining('asks for a sandbox')],
  });
  expect(refused({ sandboxEnabled: true }).servers).toEqual([]);
  expect(refused({ sandboxEnabled: false }).servers).toHaveLength(1);
  expect(readConfigValue({ sandbox: {}, servers: { s: { command: 'x' } } }, user).servers).toEqual([]);
});

test('a server of the user takes precedence over one of the workspace with the same name', () => {
  const config = { servers: { s: { command: 'x' } } };
  const merged = mergeConfigurations([readConfigValue(config, user), readConfigValue(config, workspace)]);
  expect(merged.servers.map(({ source }) => source.workspace)).toEqual([false]);
  expect(merged.problems).toEqual(['“s” in .vscode/mcp.json is not used: the user settings has this name too.']);
});

test('variables are replaced once; unknown ones are named', async () => {
  const text =
    '${workspaceFolder}/${workspaceFolder:tea} ${env:TOKEN}${env:NONE} ${TOKEN} ${X:-y} ${config:editor.tabSize} ${input:key}';
  expect(await replaceVariables(text, variables)).toBe('/w//w/tea t0 t0 y 2 secret-value');
  const twice = { ...variables, input: async () => '${env:TOKEN}' };
  expect(await replaceVariables('${input:key}', twice)).toBe('${env:TOKEN}');
  for (const unknown of ['${input:none}', '${command:x}', '${NONE}', '${workspaceFolder:none}']) {
    await expect(replaceVariables(unknown, variables)).rejects.toThrow(FailureError);
  }
});

test('a server gets an explicit environment: null unsets, a file adds, nothing else is inherited', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  await writeFile(join(folder, '.env'), 'FROM_FILE=1\nOVER=file\n');
  const env = { OVER: 'own', HOME: null, N: 5, KEY: '${input:key}' };
  const server = only({ command: 'node', args: ['${workspaceFolder}'], cwd: folder, env, envFile: '.env' });
  const environment = { PATH: process.env['PATH'], HOME: '/h', OTHER: 'x', EVIL: '() { :; }', TERM: '() { :; }' };
  const launch = await prepareLaunch(server, { ...variables, environment });
  expect(launch).toMatchObject({ type: 'stdio', folder, args: ['/w'] });
  expect('env' in launch && { ...launch.env, PATH: '' }).toEqual({
    PATH: '',
    FROM_FILE: '1',
    OVER: 'own',
    N: '5',
    KEY: 'secret-value',
  });
});

test('the proof has hashes of the program and of files in the arguments, and no values of inputs or the environment', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  const script = join(folder, 'server.js');
  await writeFile(script, 'one');
  const server = only({ command: 'node', args: [script, '--key', '${env:TOKEN}'], env: { KEY: '${input:key}' } });
  const prove = async () => {
    const plan = await prepareLaunch(server, { ...variables, input: async (id) => `\${input:${id}}` });
    return proveLaunch(server, plan, []);
  };
  const first = await prove();
  expect(first.files.map(({ path }) => path.split('/').at(-1))).toEqual(['node', 'server.js']);
  expect(JSON.stringify(first)).not.toContain('secret-value');
  expect(first.command).toContain('${env:TOKEN}');
  expect((await prove()).hash).toBe(first.hash);
  await writeFile(script, 'two');
  expect((await prove()).hash).not.toBe(first.hash);
});

test('a change of the environment file, of a file in an option, or of an input needs another approval', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  const [env, hook] = [join(folder, '.env'), join(folder, 'hook.mjs')];
  await writeFile(env, 'A=1');
  await writeFile(hook, 'one');
  const prove = async (input: object) => {
    const config = { command: 'node', args: [`--import=${hook}`, '${input:k}'], cwd: folder, envFile: '.env' };
    const { servers } = readConfigValue({ servers: { s: config }, inputs: [input] }, workspace);
    const [server] = servers;
    if (server === undefined) throw new Error('no server');
    const plan = await prepareLaunch(server, { ...variables, input: async (id) => `\${input:${id}}` });
    return proveLaunch(server, plan, []);
  };
  const harmless = { type: 'promptString', id: 'k' };
  const command = { type: 'command', id: 'k', command: 'workbench.action.tasks.runTask', args: 'x\n\nSafe.' };
  const proofs = [await prove(harmless), await prove(command)];
  expect(proofs[0]?.files.map(({ path }) => path).slice(1)).toEqual([hook, env]);
  expect(proofs[1]?.details.at(-1)).toContain('runs the editor’s command workbench.action.tasks.runTask');
  expect(proofs[1]?.details.join('')).not.toContain('\n');
  await writeFile(env, 'NODE_OPTIONS=--require ./evil.js');
  proofs.push(await prove(harmless));
  await writeFile(hook, 'two');
  proofs.push(await prove(harmless));
  expect(new Set(proofs.map(({ hash }) => hash)).size).toBe(4);
});

test.each(['/dev/zero', '.', 'pipe'])('%s is no file with an environment, and is not read', async (envFile) => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const server = only({ command: 'node', cwd: folder, envFile });
  await expect(prepareLaunch(server, variables)).rejects.toThrow('is not a file');
});

test('a changed file after an option, or a changed envFile, needs another approval, since it can make other code run', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  const names = ['hook.js', '.env'];
  for (const name of names) await writeFile(join(folder, name), 'A=1');
  const server = only({ command: 'node', args: ['--require=./hook.js'], cwd: folder, envFile: '.env' });
  const prove = async () => proveLaunch(server, await prepareLaunch(server, variables), []);
  for (const name of names) {
    const before = await prove();
    expect(before.files.map(({ path }) => path)).toContain(join(await realpath(folder), name));
    await writeFile(join(folder, name), 'NODE_OPTIONS=--require=./other.js');
    expect((await prove()).hash).not.toBe(before.hash);
  }
});

test('a program is not searched for in relative entries of the search path', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-mcp-'));
  await writeFile(join(folder, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  const launched = (PATH: string) => prepareLaunch(only({ command: 'tool', cwd: folder, env: { PATH } }), variables);
  expect(await launched(folder)).toMatchObject({ program: join(folder, 'tool') });
  await expect(launched('.')).rejects.toThrow('was not found');
});

test('a value that is invalid in a header, a variable or an argument is refused without being shown', async () => {
  for (const bad of ['s3cret\nX: y', 's3cret\0', 's3cret\u0442']) {
    const deps = { ...variables, input: async () => bad };
    const http = only({ url: 'https://x/mcp', headers: { Authorization: 'Bearer ${input:key}' } });
    const refused = await prepareLaunch(http, deps).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(FailureError);
    expect(String(refused)).toContain('header Authorization');
    expect(JSON.stringify(refused)).not.toContain('s3cret');
    const program = (config: object) => prepareLaunch(only({ command: 'node', ...config }), deps);
    if (!bad.includes('\0')) continue;
    for (const config of [{ env: { KEY: '${input:key}' } }, { args: ['${input:key}'] }]) {
      await expect(program(config)).rejects.toThrow(/^(?!.*s3cret).*not allowed/);
    }
  }
  const trimmed = only({ url: 'https://x/mcp', headers: { Authorization: 'Bearer ${input:key}' } });
  expect(await prepareLaunch(trimmed, { ...variables, input: async () => 'token\n' })).toMatchObject({ type: 'http' });
});

test('addresses: http, https and unix; everything else is refused', async () => {
  expect(await prepareLaunch(only({ url: 'unix:/run/x.sock#/mcp' }), variables)).toMatchObject({
    socket: '/run/x.sock',
    url: new URL('http://localhost/mcp'),
  });
  const launch = await prepareLaunch(
    only({ url: 'https://x/mcp', headers: { Authorization: 'Bearer ${input:key}' } }),
    variables,
  );
  expect(launch).toMatchObject({ headers: { Authorization: 'Bearer secret-value' } });
  for (const url of ['file:///etc/passwd', 'not an address', 'ftp://x']) {
    await expect(prepareLaunch(only({ url }), variables)).rejects.toThrow('is not the address of a server');
  }
  await expect(prepareLaunch(only({ command: 'no-such-program-anywhere' }), variables)).rejects.toThrow(
    'was not found',
  );
});
