// Prepares the start of a server: replaces variables, finds the program, and hashes what the user approves.
import { createHash } from 'node:crypto';
import { constants, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as util from 'node:util';
import { failed, FailureError } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { printWholePath, printWords } from '../../base/printPath.ts';
import { maskSecrets } from '../../base/secrets/maskSecrets.ts';
import { type Unpinned } from '../../node/files/codePins.ts';
import { isLoadingVariable } from '../../node/files/commandPins.ts';
import { hashFile } from '../../node/files/fileHashes.ts';
import { type CommandFile, findProgram, hashFiles, inspectProgram } from '../../node/files/fingerprint.ts';
import { platform } from '../../node/platform/platform.ts';
import { type HttpServer, isStdio, type ServerInput, type StdioServer } from '../../protocol/outside/mcp.ts';
import { type ConfiguredServer } from './configuration.ts';
import { replaceVariables, type VariableDeps } from './variables.ts';

export interface ProgramLaunch {
  readonly type: 'stdio';
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** The file that some variables of `env` come from. */
  readonly envFile?: string;
  /** The names of the variables that its configuration sets, in `env` or in the file. */
  readonly configured: readonly string[];
}

export interface HttpLaunch {
  readonly type: 'http';
  readonly url: URL;
  /** The path of a local socket, for `unix:` addresses. */
  readonly socket?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: HttpServer['oauth'];
  readonly sseOnly: boolean;
}

export type Launch = ProgramLaunch | HttpLaunch;

/** What the user is shown before a server of a workspace starts. Contains no values of inputs or of the environment. */
export interface LaunchProof {
  /** As configured, before variables are replaced. */
  readonly command: string;
  readonly details: readonly string[];
  /** The program, the files whose code it runs, every file that an argument names, and the file with its environment. */
  readonly files: readonly CommandFile[];
  /** Code that may run besides these files. If there is any, the approval holds for one window. */
  readonly unpinned: readonly Unpinned[];
  /** Whether it runs code of the workspace, whoever configured it. */
  readonly isInWorkspace: boolean;
  /** The hash of all of the above, which identifies an approval. */
  readonly hash: string;
}

const MOST_ENV_FILE = 1024 * 1024;
/** Used as the hash of a file that cannot be read. Such a file may still be executable. */
const UNREADABLE = 'unreadable';

/** Rejects with a FailureError that says what is wrong. */
export async function prepareLaunch({ config }: ConfiguredServer, deps: VariableDeps): Promise<Launch> {
  return isStdio(config) ? prepareProgram(config, deps) : prepareHttp(config, deps);
}

async function prepareProgram(config: StdioServer, deps: VariableDeps): Promise<ProgramLaunch> {
  const folder = resolve(deps.folder ?? homedir(), await replaceVariables(config.cwd ?? '.', deps));
  const values = new Map<string, string>();
  // It gets others only if its configuration names them.
  for (const name of platform.programs.inherited) {
    const value = deps.environment[name];
    // Leaves out shell functions, as the MCP SDK does: they are a known way to run code (Shellshock).
    if (value !== undefined && !value.startsWith('()')) values.set(name, value);
  }
  const configured = new Set<string>();
  const envFile = config.envFile && resolve(folder, await replaceVariables(config.envFile, deps));
  if (envFile !== undefined) {
    const found = await readEnvFile(envFile);
    for (const [name, value] of Object.entries(found)) {
      values.set(name, value);
      configured.add(name);
    }
  }
  for (const [name, value] of Object.entries(config.env ?? {})) {
    configured.add(name);
    if (value === null) values.delete(name);
    else values.set(name, await replaceVariables(String(value), deps));
  }
  // Checked here because the error of the operating system would contain the value, which may be a secret.
  for (const [name, value] of values) if (value.includes('\0')) refuseValue(`variable ${name}`);
  const env = Object.fromEntries(values);
  const args: string[] = [];
  for (const arg of config.args ?? []) args.push(await replaceVariables(arg, deps));
  if (args.some((arg) => arg.includes('\0'))) refuseValue('argument');
  const command = await replaceVariables(config.command, deps);
  const program = await findProgram(command, folder, env);
  if (program === undefined) {
    refuseLaunch(`The program “${command}” was not found.`, 'Install it, or correct the command.');
  }
  const start = { program, args, folder, env, configured: [...configured] };
  return { type: 'stdio', ...start, ...defined({ envFile }) };
}

async function prepareHttp(config: HttpServer, deps: VariableDeps): Promise<HttpLaunch> {
  const address = await replaceVariables(config.url, deps);
  const headers: Record<string, string> = {};
  for (const [name, configured] of Object.entries(config.headers ?? {})) {
    const value = await replaceVariables(configured, deps);
    checkHeader(name, value);
    headers[name] = value;
  }
  const unix = /^unix:(?:\/\/)?(?<socket>\/[^#]*)(?:#(?<path>.*))?$/.exec(address)?.groups;
  const oauth = config.oauth && {
    ...config.oauth,
    ...(config.oauth.clientSecret !== undefined && {
      clientSecret: await replaceVariables(config.oauth.clientSecret, deps),
    }),
  };
  const rest = { headers, ...defined({ oauth }), sseOnly: config.type === 'sse' };
  if (unix?.['socket'] !== undefined) {
    const url = new URL(unix['path'] ?? '/', 'http://localhost');
    return { type: 'http', url, socket: unix['socket'], ...rest };
  }
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    refuseLaunch(`“${config.url}” is not the address of a server.`, 'Use http, https or unix.');
  }
  return { type: 'http', url: new URL(address), ...rest };
}

/** Checked here because the error of a request would show the user and the model the value, which may be a secret. */
function checkHeader(name: string, value: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
    refuseLaunch(`“${name}” is not a header name.`, 'Correct the configuration.');
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value.trim())) refuseValue(`header ${name}`);
}

function refuseValue(what: string): never {
  return refuseLaunch(
    `The value of the ${what} has a character that is not allowed there, such as a line break.`,
    'Correct the configuration, or the input or variable that it names.',
  );
}

/**
 * What the user approves, with its hash, under which facts about the program are stored too. `roots`: the folders of the
 * workspace.
 */
export async function proveLaunch(
  { name, config, source, inputs }: ConfiguredServer,
  launch: Launch,
  roots: readonly string[],
): Promise<LaunchProof> {
  // Inputs that run a command of the editor have to be approved as well.
  const asked = inputs.flatMap((input) => (input.type === 'command' ? [describeCommandInput(input)] : []));
  if (!isStdio(config) || launch.type !== 'stdio') {
    const headers = 'headers' in config ? Object.entries(config.headers ?? {}) : [];
    const details = [...headers.map(([key, value]) => maskSecrets(`${key}: ${value}`)), ...asked].map(printWholePath);
    const command = 'url' in config ? printWholePath(config.url) : '';
    // A variable in the address may get another value, such as that of a setting of the workspace.
    const address = launch.type === 'http' ? launch.url.href : '';
    const hash = hashOf([name, source, config, inputs, address]);
    return { command, details, files: [], unpinned: [], isInWorkspace: false, hash };
  }
  const { program, args, folder, env, envFile } = launch;
  // The environment is part of it, since variables can make a program run other code.
  const configured = Object.fromEntries(
    launch.configured.flatMap((key) => (key in env ? [[key, env[key] ?? '']] : [])),
  );
  const { paths, unpinned, isInWorkspace } = await inspectProgram({ program, args, folder, roots, env, configured });
  const all = [...new Set([...paths, ...(envFile === undefined ? [] : [envFile])])];
  const files = await hashFiles(all, (path) => hashFile(path).catch(() => UNREADABLE));
  const environment = Object.entries(config.env ?? {}).map(([key, value]) => `${key}=${value ?? '(unset)'}`);
  const details = [
    `in ${folder}`,
    ...environment.map(maskSecrets),
    ...(config.envFile === undefined ? [] : [`environment from ${config.envFile}: ${namesInFile(launch, config)}`]),
    ...asked,
  ].map(printWholePath);
  const command = printWords([config.command, ...(config.args ?? [])]);
  return {
    command,
    details,
    files,
    unpinned,
    isInWorkspace,
    hash: hashOf([name, source, config, inputs, program, args, folder, files, unpinned, configured]),
  };
}

/** Values of the file may be secrets, so only those that can load code are shown. */
function namesInFile({ env, configured }: ProgramLaunch, config: StdioServer): string {
  const names = configured.filter((name) => config.env?.[name] === undefined);
  return names.map((name) => (isLoadingVariable(name) ? maskSecrets(`${name}=${env[name] ?? ''}`) : name)).join(', ');
}

function describeCommandInput({ id, command, args }: Extract<ServerInput, { type: 'command' }>): string {
  return `runs the editor’s command ${command}${args === undefined ? '' : ` ${JSON.stringify(args)}`} for the input ${id}`;
}

async function readEnvFile(path: string): Promise<Record<string, string>> {
  const { parseEnv } = util as Partial<Pick<typeof util, 'parseEnv'>>;
  if (parseEnv === undefined) return refuseLaunch('An envFile needs Node 20.12 or later.', 'Use a newer Node.');
  try {
    return parseEnv(await readRegularFile(path)) as Record<string, string>;
  } catch (error) {
    if (error instanceof FailureError) throw error;
    return refuseLaunch(`The envFile ${path} cannot be read.`, 'Correct the configuration.');
  }
}

/** Reads a bounded part of a regular file: a device or a pipe may never end, and a file may grow meanwhile. */
async function readRegularFile(path: string): Promise<string> {
  // Does not wait for the writer if it is a pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) refuseLaunch(`The envFile ${path} is not a file.`, 'Correct the configuration.');
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MOST_ENV_FILE + 1), 0, MOST_ENV_FILE + 1, 0);
    if (bytesRead > MOST_ENV_FILE)
      refuseLaunch(`The file ${path} is too large for an envFile.`, 'Correct the configuration.');
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

function refuseLaunch(message: string, nextStep: string): never {
  throw new FailureError(failed('not_started', message, nextStep).failure);
}
