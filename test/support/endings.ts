// Collects clean-up functions; they run at the end of the test, the newest first.

const ends: (() => Promise<void>)[] = [];

/** Not a vitest hook: test files share modules, and a hook of a shared module would belong only to the first file. */
export function atTestEnd(end: () => Promise<void>): void {
  ends.push(end);
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
