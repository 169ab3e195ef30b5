// How the command lines that Earshot writes into settings of other programs call Node.
import { delimiter, join } from 'node:path';
import { realFileSystem } from '../files/fileSystem.ts';
import { platform } from '../platform/platform.ts';

/** For a shell: `node` if it is on the PATH, otherwise the one that runs this, which may be an editor, where possible. */
export async function nodeCommand(): Promise<string> {
  const { programs } = platform;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((one) => one !== '')) {
    if ((await realFileSystem.stat(join(folder, programs.fileName('node')))) !== undefined) return 'node';
  }
  return programs.ownNode(process.execPath);
}
