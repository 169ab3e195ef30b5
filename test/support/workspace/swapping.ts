// A process that continuously swaps a folder for a link to another one, until it is stopped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const SCRIPT = `
const { existsSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
const [folder, outside, stop] = process.argv.slice(1);
const before = folder + '-before';
/** The folder is missing for a moment. Somebody may have made it then: what is in it stays. */
function free() {
  for (const name of readdirSync(folder)) {
    rmSync(before + '/' + name, { recursive: true, force: true });
    renameSync(folder + '/' + name, before + '/' + name);
  }
  rmdirSync(folder);
}
function retry(action) {
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
      try {
        free();
      } catch {
        // More was made in it.
      }
    }
  }
}
const pause = (most) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * most);
let said = false;
while (!existsSync(stop)) {
  renameSync(folder, before);
  retry(() => symlinkSync(outside, folder));
  pause(3);
  unlinkSync(folder);
  retry(() => renameSync(before, folder));
  pause(15);
  if (!said) process.stdout.write('swapping');
  said = true;
}
`;

/** Resolves once the folder is being swapped. `stop`: creating this file ends it, with the folder in its place. */
export async function startSwapping(
  folder: string,
  outside: string,
  stop: string,
): Promise<{ ended(): Promise<void> }> {
  const child = spawn(process.execPath, ['-e', SCRIPT, folder, outside, stop], {
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exit]);
  return {
    ended: async () => {
      await exit;
    },
  };
}
