// What a measurement inside the extension host is told, and hands back.
import { writeFileSync } from 'node:fs';

const ORDER = 'EARSHOT_BENCH';

interface Order {
  readonly file: string;
  readonly values: unknown;
}

/** The environment that hands `values` in; what comes back is written to `file`. */
export function orderFor(file: string, values: unknown): NodeJS.ProcessEnv {
  return { [ORDER]: JSON.stringify({ file, values } satisfies Order) };
}

/** Of the same type as what was handed in. */
export function ordered(): unknown {
  return order().values;
}

export function handBack(result: unknown): void {
  writeFileSync(order().file, JSON.stringify(result));
}

function order(): Order {
  return JSON.parse(process.env[ORDER] ?? '') as Order;
}
