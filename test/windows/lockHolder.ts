// Holds a lock until its input ends. Prints whether it got it.
import { tryKernelLock } from '../../src/node/kernelLock.ts';

const lock = tryKernelLock(process.argv[2] ?? '');
process.stdout.write(lock === undefined ? 'denied\n' : 'held\n');
process.stdin.on('end', () => {
  lock?.release();
  process.exit(0);
});
process.stdin.resume();
