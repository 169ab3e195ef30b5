// Measures Earshot and a control alternately in one run and compares the median ratio of five rounds with a goal.

export interface Row {
  readonly what: string;
  readonly control: string;
  /** The ratio of Earshot's time to the control's must be at most this. */
  readonly goal: number;
  /** `processor`: CPU time, for work that only computes. */
  readonly clock?: 'wall' | 'processor';
  /** The work to be timed. Both do the same amount of work, or return the number of units that they did. */
  readonly runControl: () => Promise<number | void> | number | void;
  readonly runEarshot: () => Promise<number | void> | number | void;
}

const ROUNDS = 5;

/** Prints the row; a missed goal sets the exit code 1. */
export async function measure(row: Row): Promise<void> {
  // A first run of both, so that they are compiled.
  const timed = (work: Row['runControl']) => timeOf(work, row.clock === 'processor' ? processorTime : wallTime);
  await timed(row.runControl);
  await timed(row.runEarshot);
  const ratios: number[] = [];
  const times: [number, number][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // The order alternates, so that neither always has warmer caches.
    const earshotFirst = round % 2 === 1;
    const before = earshotFirst ? await timed(row.runEarshot) : await timed(row.runControl);
    const after = earshotFirst ? await timed(row.runControl) : await timed(row.runEarshot);
    const [control, earshot] = earshotFirst ? [after, before] : [before, after];
    ratios.push(earshot / control);
    times.push([control, earshot]);
  }
  const ratio = median(ratios);
  const [control, earshot] = [median(times.map(([one]) => one)), median(times.map(([, one]) => one))];
  const verdict = ratio <= row.goal ? 'met' : 'MISSED';
  console.log(`${row.what}\n  control: ${row.control}`);
  console.log(
    `  ratio ${ratio.toFixed(2)} (goal ≤ ${row.goal}, ${verdict}); ${format(earshot)} against ${format(control)} for each unit`,
  );
  if (verdict === 'MISSED') process.exitCode = 1;
}

/** Milliseconds for each unit of work. */
async function timeOf(work: Row['runControl'], now: () => number): Promise<number> {
  (globalThis as { gc?: () => void }).gc?.();
  const start = now();
  const units = (await work()) ?? 1;
  return (now() - start) / units;
}

function wallTime(): number {
  return performance.now();
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function format(milliseconds: number): string {
  return milliseconds < 1 ? `${(milliseconds * 1000).toFixed(2)} µs` : `${milliseconds.toFixed(2)} ms`;
}
