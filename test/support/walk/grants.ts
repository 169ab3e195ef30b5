// Grants as the environment of a command has them, for tests that forge or replay them.
import { notifyEnvironment } from '../../../src/node/scripts/notifyProgram.ts';

export function grantForTest(run: string, key: string): string {
  return notifyEnvironment(undefined, '', run, key)['EARSHOT_GRANT'] ?? '';
}
