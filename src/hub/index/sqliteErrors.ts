// Recognizes errors of SQLite by their codes.

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

export function isSqliteError(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

/** Whether another process has locked the file. */
export function isBusy(error: unknown): boolean {
  // The lower byte is the code without its details.
  return isSqliteError(error) && [SQLITE_BUSY, SQLITE_LOCKED].includes(error.errcode & 0xff);
}
