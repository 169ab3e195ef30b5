// The user's own files for every workspace. Implemented in storage/.
import { type Result } from '../../base/errors.ts';

/** Instructions, prompts and skills. Undefined or empty if there are none. */
export interface UserFiles {
  read(name: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /**
   * Reads at most this many bytes. Refuses paths that are or lead outside the folder (`outside`), and everything but
   * regular files.
   */
  readInside(folder: string, path: string, atMost: number): Promise<Result<Uint8Array>>;
}
