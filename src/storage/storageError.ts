// Describes disk errors for the user, with a next step.
import { describeError, FailureError } from '../base/errors.ts';

const NEXT_STEPS: Readonly<Record<string, string>> = {
  ENOSPC: 'Free disk space, then send again.',
  EDQUOT: 'Free disk space or raise the quota, then send again.',
  EROFS: 'The disk is read-only: make it writable, then send again.',
  EACCES: 'Fix the permissions of the folder, then send again.',
  EPERM: 'Fix the permissions of the folder, then send again.',
  EIO: 'The disk reports an error: check it, then send again.',
};

const OTHERWISE = 'Fix the disk or the folder, then send again.';

export function storageError(error: unknown): FailureError {
  if (error instanceof FailureError) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return new FailureError({
    code: 'storage',
    message: `The conversation’s log cannot be written: ${describeError(error)}.`,
    nextStep: `${NEXT_STEPS[code] ?? OTHERWISE} Nothing that is on disk is lost.`,
  });
}
