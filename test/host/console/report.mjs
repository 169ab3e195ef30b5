// Prints the progress of steps: one line each, rewritten in place on a terminal.
import { isEnding } from '../processes/lifetime.mjs';

/**
 * @typedef {object} Reporter
 * @property {(text: string) => void} line prints one finished line
 * @property {<Result>(label: string, work: (say: (what: string) => void) => Promise<Result>, conclude?: (result: Result) => Conclusion) => Promise<Result>} step
 *   runs work under a line that shows what is happening, for how long, and how it ended
 */

/**
 * @typedef {object} Conclusion
 * @property {boolean} passed
 * @property {string} text a few words, shown after the label
 */

const spinnerMilliseconds = 250;
const plainLineMilliseconds = 10_000;

/**
 * On a terminal all running steps share one line that is rewritten in place; elsewhere a plain line is printed from
 * time to time, so that a log shows that the step is still running.
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
    stream.write(`\r\u001b[2K${text.slice(0, Math.max(20, (stream.columns || 80) - 1))}`);
  };
  const tick = () => {
    if (isEnding()) return;
    if (inPlace) draw();
    else for (const text of describeRunning()) stream.write(`  ${text}\n`);
  };
  /** @param {string} text */
  const line = (text) => {
    if (isEnding()) return;
    erase();
    stream.write(`${text}\n`);
    draw();
  };

  return {
    line,
    async step(label, work, conclude = () => ({ passed: true, text: '' })) {
      const state = { what: 'starting', startedAt: Date.now() };
      running.set(label, state);
      timer ??= setInterval(tick, inPlace ? spinnerMilliseconds : plainLineMilliseconds);
      let shown = '';
      const finish = (/** @type {string} */ text) => {
        // The outcome of a step that is stopped because the process ends is not reported.
        if (isEnding()) return;
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
        const { passed, text } = conclude(result);
        finish(`${passed ? '✓' : '✗'} ${label}${text === '' ? '' : `: ${text}`} (${elapsed(state.startedAt)})`);
        return result;
      } catch (error) {
        finish(`✗ ${label} (${elapsed(state.startedAt)})`);
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
function elapsed(startedAt) {
  const seconds = (Date.now() - startedAt) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${seconds.toFixed(0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
