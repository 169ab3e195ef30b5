// Loaded first by the programs outside the editor: provides what Node 20.0 does not have yet, and refuses versions that
// cannot run the rest. Uses only what much older versions know, so that they get as far as the message.

const OLDEST = 20;

/** False: this version cannot run the program, and the user was told so. */
export function isNodeSupported(): boolean {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST) return true;
  process.stderr.write(`Earshot needs Node ${OLDEST} or later; this is Node ${process.versions.node}.\n`);
  process.exitCode = 1;
  return false;
}

function provide(target: object, name: string, value: unknown): void {
  if (!(name in target)) Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

/** Node 22. */
provide(Promise, 'withResolvers', () => {
  const made: { resolve?: unknown; reject?: unknown } = {};
  const promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return { promise, resolve: made.resolve, reject: made.reject };
});

/** Node 20.3. */
provide(AbortSignal, 'any', (signals: Iterable<AbortSignal>) => {
  const controller = new AbortController();
  const all = [...signals];
  const abort = ({ target }: { readonly target: unknown }) => {
    for (const one of all) one.removeEventListener('abort', abort);
    controller.abort((target as AbortSignal).reason);
  };
  for (const one of all) one.addEventListener('abort', abort);
  const aborted = all.find((one) => one.aborted);
  if (aborted !== undefined) abort({ target: aborted });
  return controller.signal;
});
