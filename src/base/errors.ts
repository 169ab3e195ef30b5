// Failures: expected ones are data with a code and a next step; bugs are thrown.
import { type FailureCode } from './failureCodes.ts';

/** An expected failure. `message` says what is wrong, `nextStep` what the reader can do about it. */
export interface Failure<Code extends FailureCode = FailureCode> {
  readonly code: Code;
  readonly message: string;
  readonly nextStep?: string;
}

export type Result<T, Code extends FailureCode = FailureCode> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure<Code> };

export function succeeded<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

export function failed<Code extends FailureCode>(
  code: Code,
  message: string,
  nextStep?: string,
): { ok: false; failure: Failure<Code> } {
  return { ok: false, failure: nextStep === undefined ? { code, message } : { code, message, nextStep } };
}

/** Carries an expected failure through code that can only throw. */
export class FailureError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'FailureError';
    this.failure = failure;
  }
}

/** Describes any thrown value in one line. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : JSON.stringify(error);
}

export function describeFailure(failure: Failure): string {
  return failure.nextStep === undefined ? failure.message : `${failure.message} ${failure.nextStep}`;
}

/** For the end of a switch over a union: a new member of the union then fails to compile. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
