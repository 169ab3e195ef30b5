// A log that keeps its errors: a test fails if there are any.
import { describeError } from '../../src/base/errors.ts';
import { type Logger } from '../../src/core/ports/ports.ts';

export function recordingLog(errors: string[]): Logger {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, error) => errors.push(error === undefined ? message : `${message}: ${describeError(error)}`),
  };
}
