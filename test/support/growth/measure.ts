// Measures how the time of a function grows with its input: four times the size takes linear work about four times as
// long.

/** The largest ratio that passes. Linear work gives about 4, n log n a little more, quadratic work 16. */
const MOST = 8;
const CLEARLY_LINEAR = 5;
const RUNS = 5;
/** Anything faster is fine: quadratic work at these sizes takes seconds. */
const QUICK_MILLISECONDS = 4;
/** A busy machine or a full heap may disturb one measurement; superlinear work fails all of them. */
const ATTEMPTS = 3;
/** Each attempt is made at larger sizes, where fixed costs and garbage collection count for less. */
const LARGER = 2;
/** For the smaller size: anything slower fails without measuring the larger one. */
const TOO_LONG_MILLISECONDS = 2000;

/** Makes an input of this size and returns the function to measure. */
export type Prepare = (size: number) => () => unknown;

/** The measured times if the growth is superlinear, otherwise undefined. */
export async function superlinear(prepare: Prepare, size: number): Promise<string | undefined> {
  let [small, large] = [prepare(size), prepare(4 * size)];
  const first = await time(small);
  if (first > TOO_LONG_MILLISECONDS) return `${Math.round(first)} ms at ${size}`;
  const once = await time(large);
  if (once < QUICK_MILLISECONDS) return undefined;
  if (isClearlyLinear(Math.min(first, await time(small)), once)) return undefined;
  const complaints: string[] = [];
  for (let measured = size; complaints.length < ATTEMPTS; measured *= LARGER) {
    if (measured > size) [small, large] = [prepare(measured), prepare(4 * measured)];
    const { before, after } = await leastOfBoth(small, large);
    if (after < QUICK_MILLISECONDS || after / before <= MOST) return undefined;
    complaints.push(`${before.toFixed(2)} ms at ${measured}, ${after.toFixed(2)} ms at ${4 * measured}`);
    if (after > TOO_LONG_MILLISECONDS) break;
  }
  return complaints.join('; ');
}

function isClearlyLinear(before: number, after: number): boolean {
  return after < QUICK_MILLISECONDS || after / before <= CLEARLY_LINEAR;
}

/** Stops early if the growth is clearly linear. */
async function leastOfBoth(small: () => unknown, large: () => unknown): Promise<{ before: number; after: number }> {
  let [before, after] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let count = 0; count < RUNS; count += 1) {
    before = Math.min(before, await time(small), await time(small));
    after = Math.min(after, await time(large));
    if (isClearlyLinear(before, after)) break;
  }
  return { before, after };
}

/**
 * Measures CPU time, so that other programs on a busy machine do not count. It counts the whole process, since the CPU
 * time of one thread is rounded to 4 ms on some machines.
 */
async function time(run: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  const running = run();
  if (running instanceof Promise) await running;
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Repeats the text up to this length. */
export function fill(text: string, size: number): string {
  return text.repeat(Math.ceil(size / text.length)).slice(0, size);
}
