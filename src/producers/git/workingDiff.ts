// The changes of a working tree as git prints them, without anything that the repository configures: no filter, no
// program that compares or converts files, no file that its configuration includes.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGitFolder } from '../../node/files/gitFolder.ts';
import { runGit } from '../../node/runGit.ts';
import { readGitState } from './gitState.ts';

const LIMIT_MILLISECONDS = 10_000;
/** Far more than a model can read. */
const MOST_BYTES = 16 * 1024 * 1024;
/** What the first commit is compared with. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const SHA256 = '[core]\nrepositoryFormatVersion = 1\n[extensions]\nobjectFormat = sha256\n';

export interface DiffQuestion {
  /** Compares the index with HEAD instead of the files with the index. */
  readonly staged: boolean;
  readonly signal: AbortSignal;
  /** For tests. */
  readonly milliseconds?: number;
}

/**
 * Empty if nothing has changed, or only line ends: whether git converts those is a part of the configuration. Rejects if
 * git cannot be run, takes too long or prints too much.
 */
export async function workingDiff(root: string, question: DiffQuestion): Promise<string> {
  const { staged, signal, milliseconds = LIMIT_MILLISECONDS } = question;
  const found = await findGitFolder(root);
  if (found === undefined) throw new Error('There is no Git repository.');
  const { commit } = await readGitState(found);
  // Git's own folder, with the configuration, is an empty one: only the index and the objects are the repository's.
  const empty = await mkdtemp(join(tmpdir(), 'earshot-diff-'));
  try {
    await mkdir(join(empty, 'refs'));
    await writeFile(join(empty, 'HEAD'), 'ref: refs/heads/main\n');
    if (commit.length === 64) await writeFile(join(empty, 'config'), SHA256);
    const args = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=all'];
    const printed = await runGit(
      [...args, '--ignore-cr-at-eol', ...(staged ? ['--cached', commit || EMPTY_TREE] : []), '--'],
      {
        folder: found.tree,
        env: {
          GIT_DIR: empty,
          GIT_OBJECT_DIRECTORY: join(found.shared, 'objects'),
          GIT_INDEX_FILE: join(found.own, 'index'),
          GIT_WORK_TREE: found.tree,
        },
        signal,
        milliseconds,
        atMost: MOST_BYTES,
      },
    );
    return printed.toString('utf8').trim();
  } finally {
    await rm(empty, { recursive: true, force: true });
  }
}
