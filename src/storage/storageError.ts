// Decides what a person reads when the disk refuses, and what they can do about it.
import { describeError, FailureError } from '../base/errors.ts';

const NEXT_STEPS: Readonly<Record<string, string>> = {
  ENOSPC: 'Free disk space, then send again.',
  EDQUOT: 'Free disk space or raise the quota, then send again.',
  EROFS: 'The disk is read-only: make it writable, then send again.',
  EACCES: 'Mend the rights of the folder, then send again.',
  EPERM: 'Mend the rights of the folder, then send again.',
  EIO: 'The disk reports a fault: look after it, then send again.',
};

export function storageError(error: unknown): FailureError {
  if (error instanceof FailureError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new FailureError({
    code: 'storage',
    message: `The conversation’s log cannot be written: ${describeError(error)}.`,
    nextStep: `${NEXT_STEPS[code] ?? 'Mend the disk or the folder, then send again.'} Nothing that is on disk is lost.`,
  });
}
