// What a test began and does not want to end by itself: ended when the test is, the newest first.

const ends: (() => Promise<void>)[] = [];

/** Not a hook of the caller: test files share their modules, and a module's own hooks would belong to the first of them. */
export function atTestEnd(end: () => Promise<void>): void {
  ends.push(end);
}

export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
