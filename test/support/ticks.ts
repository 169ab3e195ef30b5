// Lets other work run between two steps of a test, to try their interleavings without waiting for time to pass.

/** Resolves after so many rounds of the event loop. */
export async function afterTicks(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
