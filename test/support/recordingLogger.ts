// A logger that collects errors, so that a test can assert that there were none.
import { describeError } from '../../src/base/errors.ts';
import { type Logger } from '../../src/core/ports/ports.ts';

export function recordingLogger(errors: string[]): Logger {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: (message, error) => errors.push(error === undefined ? message : `${message}: ${describeError(error)}`),
  };
}
