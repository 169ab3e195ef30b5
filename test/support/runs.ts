// How often a test repeats what is random or must hold every time: a few times by day, many times in `npm run test:full`.

/** For what is slow and shown in part by a test that always runs. */
export const isFull = process.env['EARSHOT_TEST_FULL'] === '1';

/** The first of them by day: colours of all themes are checked once, in `themes.browser.test.ts`. */
export function firstByDay<T>(all: readonly T[]): readonly T[] {
  return isFull ? all : all.slice(0, 1);
}

/** The number of repetitions; `npm run test:full` sets EARSHOT_TEST_FULL to 1. */
export function runs(byDay: number, full: number): number {
  return isFull ? full : byDay;
}
