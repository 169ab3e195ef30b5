// Decides what a person reads while set-up and runs go on: one line for each piece of work, and errors that say what to do next.
import { isEnding } from './lifetime.mjs';

/**
 * A problem that was expected: shown as its message and the next step, never as a stack trace.
 */
export class UserError extends Error {
  /**
   * @param {string} message what went wrong, as a whole sentence
   * @param {string} nextStep what the reader can do about it
   * @param {{ details?: string, exitCode?: number }} [more] details: lines of output that show the cause
   */
  constructor(message, nextStep, more = {}) {
    super(message);
    this.name = 'UserError';
    this.nextStep = nextStep;
    this.details = more.details ?? '';
    this.exitCode = more.exitCode ?? 1;
  }
}

/**
 * The text shown for whatever was thrown. A stack trace is for bugs only.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function describeError(error) {
  if (error instanceof UserError) {
    const details = error.details === '' ? '' : `\n${indent(error.details)}`;
    return `${error.message}${details}\n→ ${error.nextStep}`;
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Unexpected error, please report it:\n${cause}`;
}

/**
 * @param {string} text
 * @returns {string}
 */
export function indent(text) {
  return text.replace(/^(?=.)/gm, '    ');
}

/**
 * @typedef {object} Reporter
 * @property {(text: string) => void} line prints one finished line
 * @property {<Result>(label: string, work: (say: (what: string) => void) => Promise<Result>) => Promise<Result>} step
 *   runs work under a line that shows what is happening and for how long, and how it ended
 */

const spinnerMilliseconds = 250;
const plainLineMilliseconds = 10_000;

/**
 * On a terminal all running steps share one line that is rewritten in place; elsewhere a plain line is printed from
 * time to time, so that a log shows that something still happens.
 *
 * @param {NodeJS.WriteStream} [stream]
 * @returns {Reporter}
 */
export function createReporter(stream = process.stdout) {
  /** @type {Map<string, { what: string, startedAt: number }>} */
  const running = new Map();
  const inPlace = stream.isTTY;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  const erase = () => {
    if (inPlace && running.size > 0) stream.write('\r\u001b[2K');
  };
  const describeRunning = () =>
    [...running].map(([label, { what, startedAt }]) => `${label}: ${what} (${elapsed(startedAt)})`);
  const draw = () => {
    if (!inPlace || running.size === 0) return;
    const text = `… ${describeRunning().join(' · ')}`;
    stream.write(`\r\u001b[2K${text.slice(0, Math.max(20, stream.columns - 1))}`);
  };
  const tick = () => {
    if (inPlace) draw();
    else for (const text of describeRunning()) stream.write(`  ${text}\n`);
  };
  /** @param {string} text */
  const line = (text) => {
    erase();
    stream.write(`${text}\n`);
    draw();
  };

  return {
    line,
    async step(label, work) {
      const state = { what: 'starting', startedAt: Date.now() };
      running.set(label, state);
      timer ??= setInterval(tick, inPlace ? spinnerMilliseconds : plainLineMilliseconds);
      let shown = '';
      const finish = (/** @type {string} */ text) => {
        erase();
        running.delete(label);
        if (running.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
        stream.write(`${text}\n`);
        draw();
      };
      try {
        const result = await work((what) => {
          state.what = what;
          if (inPlace) draw();
          else if (shown !== what) stream.write(`  ${label}: ${what}\n`);
          shown = what;
        });
        finish(`✓ ${label} (${elapsed(state.startedAt)})`);
        return result;
      } catch (error) {
        // What is ended because something else failed is no news.
        if (!isEnding()) finish(`✗ ${label} (${elapsed(state.startedAt)})`);
        throw error;
      }
    },
  };
}

/** @type {Reporter} */
export const silentReporter = { line: () => {}, step: (_label, work) => work(() => {}) };

/**
 * @param {number} startedAt
 * @returns {string}
 */
export function elapsed(startedAt) {
  const seconds = (Date.now() - startedAt) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
