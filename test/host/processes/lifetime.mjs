// Runs a command to its end, by result, error or signal, and cleans up everything it started.
import { constants } from 'node:os';
import { describeError, UserError } from '../console/errors.mjs';

/** @type {Record<'processes' | 'folders', Set<() => unknown>>} */
const cleanups = { processes: new Set(), folders: new Set() };
let ending = false;

/**
 * Registers what must be undone if the process ends before the returned function is called.
 *
 * @param {keyof typeof cleanups} what processes are ended first, since they may still write to the folders
 * @param {() => unknown} cleanup may be asynchronous
 * @returns {() => void} forgets the clean-up: its work is done
 */
export function onEnd(what, cleanup) {
  cleanups[what].add(cleanup);
  return () => void cleanups[what].delete(cleanup);
}

/** Whether the process is ending, so that failures of what is being ended need no report. */
export function isEnding() {
  return ending;
}

/**
 * Runs a command to its exit code. On SIGINT, SIGTERM or SIGHUP everything registered with onEnd is undone first; a
 * second signal changes nothing, because a terminal, npm and our own parent may each send one for a single Ctrl+C.
 *
 * @param {() => Promise<number>} command
 * @param {{ stoppedMessage?: string }} [options]
 * @returns {Promise<never>}
 */
export async function runToExit(command, { stoppedMessage = 'Stopped.' } = {}) {
  // Once the terminal is gone (SIGHUP), writing to it must not keep the clean-ups from running.
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
 * The outcome of a command after a signal is not a result, because its parts are being ended. The signal's handler ends the process.
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
