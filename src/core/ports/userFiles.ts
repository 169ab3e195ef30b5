// The user's own files for every workspace. Implemented in storage/.
import { type Result } from '../../base/errors.ts';

/** Instructions, prompts and skills. Undefined or empty if there are none. */
export interface UserFiles {
  read(name: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
  /** At most this many bytes. Refuses what lies or leads outside the folder (`outside`) and what is no regular file. */
  readInside(folder: string, path: string, atMost: number): Promise<Result<Uint8Array>>;
}
