// Decides how a helper program is run: in a group of its own that ends with us, its output in a log, its failure explained.
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onEnd } from './lifetime.mjs';
import { endTree } from './processTree.mjs';

const keptTailCharacters = 64_000;

/**
 * Starts a program that leads its own process group, so that all it starts can be ended with it, and ends it when this
 * process ends.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions & { graceMilliseconds?: number }} options
 */
export function spawnGroup(command, args, { graceMilliseconds, ...options }) {
  const child = spawn(command, args, { windowsHide: true, ...options, detached: process.platform !== 'win32' });
  const end = async () => {
    if (child.pid !== undefined) await endTree(child.pid, graceMilliseconds === undefined ? {} : { graceMilliseconds });
  };
  const forget = onEnd('processes', end);
  child.once('exit', forget);
  child.once('error', forget);
  return { child, end };
}

/**
 * @typedef {object} CommandResult
 * @property {number | null} exitCode null if a signal ended it
 * @property {NodeJS.Signals | null} signal
 * @property {string} output the end of what it printed, both streams together
 * @property {Error | undefined} startError why it could not be started
 */

/**
 * Runs a program to its end without judging it.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, logFile: string, graceMilliseconds?: number, shell?: boolean }} options
 * @returns {Promise<CommandResult>}
 */
export async function runCommand(command, args, { logFile, ...options }) {
  await mkdir(dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  // A full disk must not end the program that is being logged.
  log.on('error', () => {});
  log.write(`> ${[command, ...args].join(' ')}\n`);

  const { child } = spawnGroup(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
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
