// How often a test repeats what is random or must hold every time: a few times by day, many times in `npm run test:full`.

/** The number of repetitions; `npm run test:full` sets EARSHOT_TEST_FULL to 1. */
export function runs(byDay: number, full: number): number {
  return process.env['EARSHOT_TEST_FULL'] === '1' ? full : byDay;
}
