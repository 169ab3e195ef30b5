// Runs a command until it ends by a result, an error or a signal, and cleans up everything that it started.
import { constants } from 'node:os';
import { describeError, UserError } from '../console/errors.mjs';

/** @type {Record<'processes' | 'folders', Set<() => unknown>>} */
const cleanups = { processes: new Set(), folders: new Set() };
let ending = false;

/**
 * Registers a clean-up that runs if the process ends before the returned function is called.
 *
 * @param {keyof typeof cleanups} what processes are ended first, since they may still write to the folders
 * @param {() => unknown} cleanup may be asynchronous
 * @returns {() => void} cancels the clean-up, since it is not needed any more
 */
export function onEnd(what, cleanup) {
  cleanups[what].add(cleanup);
  return () => void cleanups[what].delete(cleanup);
}

/** Whether the process is ending, so that failures of the parts being stopped are not reported. */
export function isEnding() {
  return ending;
}

/**
 * Runs a command and exits with its exit code. On SIGINT, SIGTERM or SIGHUP all clean-ups of onEnd run first. A second
 * signal changes nothing, because a terminal, npm and the parent process may each send one for a single Ctrl+C.
 *
 * @param {() => Promise<number>} command
 * @param {{ stoppedMessage?: string }} [options]
 * @returns {Promise<never>}
 */
export async function runToExit(command, { stoppedMessage = 'Stopped.' } = {}) {
  // Once the terminal is closed (SIGHUP), failed writes to it must not prevent the clean-ups.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (ending) return;
      ending = true;
      void undoAll().then(() => {
        if (stoppedMessage !== '')
          process.stdout.write(`${process.stdout.isTTY ? '\r\u001b[2K' : ''}${stoppedMessage}\n`);
        process.exit(128 + constants.signals[signal]);
      });
    });
  }

  /** @type {number} */
  let exitCode;
  try {
    exitCode = await command();
    if (ending) return forever();
  } catch (error) {
    if (ending) return forever();
    process.stderr.write(`\n${describeError(error)}\n`);
    exitCode = error instanceof UserError ? error.exitCode : 1;
  }
  ending = true;
  await undoAll();
  process.exit(exitCode);
}

/**
 * After a signal, the outcome of a command is meaningless, because its parts are being stopped. The signal's handler
 * ends the process.
 *
 * @returns {Promise<never>}
 */
function forever() {
  return new Promise(() => {});
}

async function undoAll() {
  for (const group of [cleanups.processes, cleanups.folders]) {
    await Promise.allSettled([...group].map(async (cleanup) => cleanup()));
    group.clear();
  }
}
