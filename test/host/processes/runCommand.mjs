// Runs helper programs in their own process groups, which end with this process, and logs their output to a file.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { dirname } from 'node:path';
import { onEnd } from './lifetime.mjs';
import { endTree } from './processTree.mjs';

const keptTailCharacters = 64_000;

/**
 * Starts a program that leads its own process group, so that everything it starts can be ended with it. It is ended
 * when this process ends.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { graceMilliseconds?: number, priority?: number }} options
 */
function spawnGroup(command, args, { graceMilliseconds, priority, ...options }) {
  const child = spawn(command, args, { windowsHide: true, ...options, detached: process.platform !== 'win32' });
  if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, priority);
  const end = async () => {
    if (child.pid !== undefined) await endTree(child.pid, graceMilliseconds === undefined ? {} : { graceMilliseconds });
  };
  const forget = onEnd('processes', end);
  child.once('exit', forget);
  child.once('error', forget);
  return { child, end };
}

const preload = new URL('boundProcess.mjs', import.meta.url).href;

/**
 * Options for starting a Node program so that it ends with this process even if this process is killed.
 *
 * @param {'group' | 'self'} bond whether it is killed with its whole group, or asked to end
 */
export function bondOptions(bond) {
  return {
    args: ['--import', preload],
    env: { EARSHOT_BOND: bond },
    stdio: /** @type {const} */ ('pipe'),
  };
}

/**
 * Starts a Node program that leads its own process group and is bound to this process.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, output: 'pipe' | 'inherit', graceMilliseconds?: number, priority?: number }} options
 */
export function spawnNode(node, args, { output, env = process.env, ...options }) {
  const bond = bondOptions('group');
  return spawnGroup(node, [...bond.args, ...args], {
    ...options,
    env: { ...env, ...bond.env },
    stdio: ['ignore', output, output, bond.stdio],
  });
}

/**
 * @typedef {object} CommandResult
 * @property {number | null} exitCode null if a signal ended it
 * @property {NodeJS.Signals | null} signal
 * @property {string} output the end of its output, both streams together
 * @property {Error | undefined} startError why it could not be started
 */

/**
 * @typedef {object} CommandOptions
 * @property {string} [cwd]
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} logFile
 * @property {number} [graceMilliseconds] time between asking it to end and killing it
 * @property {boolean} [shell]
 * @property {number} [priority] as of `os.setPriority`
 */

/**
 * Runs a program to its end and returns how it ended.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} options
 * @returns {Promise<CommandResult>}
 */
export async function runCommand(command, args, { logFile, ...options }) {
  const log = await openLog(logFile, [command, ...args]);
  return collect(spawnGroup(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }).child, log);
}

/**
 * The same for a Node program, which is also bound to this process.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {CommandOptions} options
 * @returns {Promise<CommandResult>}
 */
export async function runNode(node, args, { logFile, ...options }) {
  const log = await openLog(logFile, [node, ...args]);
  return collect(spawnNode(node, args, { ...options, output: 'pipe' }).child, log);
}

/**
 * @param {string} logFile
 * @param {readonly string[]} commandLine
 */
async function openLog(logFile, commandLine) {
  await mkdir(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  // A full disk must not end the logged program.
  log.on('error', () => {});
  log.write(`> ${commandLine.join(' ')}\n`);
  return log;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {import('node:fs').WriteStream} log
 * @returns {Promise<CommandResult>}
 */
function collect(child, log) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (/** @type {Buffer} */ chunk) => {
      log.write(chunk);
      output = (output + chunk.toString()).slice(-keptTailCharacters);
    });
  }
  return new Promise((resolve) => {
    /** @param {Omit<CommandResult, 'output'>} result */
    const finish = (result) => log.end(() => resolve({ ...result, output }));
    child.once('error', (startError) => finish({ exitCode: null, signal: null, startError }));
    child.once('close', (exitCode, signal) => finish({ exitCode, signal, startError: undefined }));
  });
}

/**
 * @param {string} text
 * @param {number} count
 * @returns {string}
 */
export function lastLines(text, count) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
