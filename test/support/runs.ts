// How often tests repeat random or timing-dependent cases: a few times in `npm test`, many times in
// `npm run test:full`.

/** For slow checks that a faster test, which always runs, covers in part. */
export const isFull = process.env['EARSHOT_TEST_FULL'] === '1';

/**
 * The first element in `npm test`, all of them in `npm run test:full`. `themes.browser.test.ts` always checks the
 * colours of all themes.
 */
export function firstUnlessFull<T>(all: readonly T[]): readonly T[] {
  return isFull ? all : all.slice(0, 1);
}

/** The number of repetitions. `npm run test:full` sets EARSHOT_TEST_FULL to 1. */
export function runs(usual: number, full: number): number {
  return isFull ? full : usual;
}
