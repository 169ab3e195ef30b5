// Passes options to a measurement inside the extension host, and its result back.
import { writeFileSync } from 'node:fs';

const VARIABLE = 'EARSHOT_BENCH';

interface Passed {
  readonly file: string;
  readonly values: unknown;
}

/** The environment that passes `values`; the result is written to `file`. */
export function environmentFor(file: string, values: unknown): NodeJS.ProcessEnv {
  return { [VARIABLE]: JSON.stringify({ file, values } satisfies Passed) };
}

/** The values that were passed to `environmentFor`. */
export function readOptions(): unknown {
  return readPassed().values;
}

export function writeResult(result: unknown): void {
  writeFileSync(readPassed().file, JSON.stringify(result));
}

function readPassed(): Passed {
  return JSON.parse(process.env[VARIABLE] ?? '') as Passed;
}
