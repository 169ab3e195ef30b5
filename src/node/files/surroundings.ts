// Describes the machine and the repository for the system prompt: operating system and branch.
import { arch, release, type } from 'node:os';
import { findGitFolder, parseHead, readGitFile } from './gitFolder.ts';

const LONGEST_HEAD = 4096;
const BRANCH = 'refs/heads/';

/** `folder`: the first workspace folder; undefined: there is none. */
export async function readSurroundings(
  folder: string | undefined,
): Promise<{ system: string; branch: string | undefined }> {
  return { system: `${type()} ${release()} (${arch()})`, branch: folder && (await branchOf(folder)) };
}

/** Undefined without a repository, or if no branch is checked out. */
async function branchOf(folder: string): Promise<string | undefined> {
  const found = await findGitFolder(folder);
  const head = found && parseHead(await readGitFile(found.own, 'HEAD', LONGEST_HEAD));
  if (head === undefined || !('ref' in head) || !head.ref.startsWith(BRANCH)) return undefined;
  return head.ref.slice(BRANCH.length);
}
