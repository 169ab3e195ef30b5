// Decides how a failure is told apart: expected (data with a code and a next step), cancelled, or a bug.

/** An expected failure. `message` says what is wrong, `nextStep` what the reader can do about it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly nextStep?: string;
}

export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure };

export function succeeded<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failed(code: string, message: string, nextStep?: string): { ok: false; failure: Failure } {
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

/** One readable line for anything that was thrown. */
export function describeError(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' ? error : JSON.stringify(error);
}

export function describeFailure(failure: Failure): string {
  return failure.nextStep === undefined ? failure.message : `${failure.message} ${failure.nextStep}`;
}

/** A switch over a union ends here; a new member then fails to compile. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
