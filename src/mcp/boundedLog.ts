// Limits how many lines a server can write to the log: a server that prints all the time would keep the editor busy.
import { type Clock } from '../base/clock.ts';

const MOST_LINES = 500;
const WINDOW_MILLISECONDS = 10_000;

export function boundLog(write: (line: string) => void, clock: Pick<Clock, 'monotonic'>): (line: string) => void {
  let since = clock.monotonic();
  let lines = 0;
  return (line) => {
    if (clock.monotonic() - since >= WINDOW_MILLISECONDS) {
      if (lines > MOST_LINES) write(`(${lines - MOST_LINES} lines were left out.)`);
      since = clock.monotonic();
      lines = 0;
    }
    lines += 1;
    if (lines <= MOST_LINES) write(line);
    if (lines === MOST_LINES) write('It prints too much: further lines are left out for up to 10 s.');
  };
}
