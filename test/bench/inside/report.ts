// Passes options to a measurement inside the extension host and its results back.
import { writeFileSync } from 'node:fs';

const ORDER = 'EARSHOT_BENCH';

interface Order {
  readonly file: string;
  readonly values: unknown;
}

/** The environment that passes `values`; the results are written to `file`. */
export function orderFor(file: string, values: unknown): NodeJS.ProcessEnv {
  return { [ORDER]: JSON.stringify({ file, values } satisfies Order) };
}

/** The values passed to `orderFor`. */
export function ordered(): unknown {
  return order().values;
}

export function handBack(result: unknown): void {
  writeFileSync(order().file, JSON.stringify(result));
}

function order(): Order {
  return JSON.parse(process.env[ORDER] ?? '') as Order;
}
