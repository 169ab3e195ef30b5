// Creates the sample workspace: a small TypeScript project in git with which every kind of notification can be tried.
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorCode } from './install/cache.mjs';
import { UserError } from './console/errors.mjs';
import { repository } from './setup.mjs';

const run = promisify(execFile);
const name = 'tea-shop';
/** The sample's dependencies, linked from this repository's node_modules, since it must work without a network. */
const linkedPackages = ['typescript', '@types/node', 'undici-types'];

/** Creates the sample below `parent` and returns its folder. */
export async function createSample(parent: string): Promise<string> {
  const folder = join(parent, name);
  const source = fileURLToPath(new URL('sample', import.meta.url));
  await cp(join(source, 'main'), folder, { recursive: true });
  for (const packageName of linkedPackages) {
    const link = join(folder, 'node_modules', packageName);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(repository, 'node_modules', packageName), link, 'junction');
  }

  await git(folder, 'init', '--quiet', '--initial-branch=main');
  await commitAll(folder, 'Orders and receipts');
  await git(folder, 'switch', '--quiet', '--create', 'feature/discount');
  await cp(join(source, 'feature-discount'), folder, { recursive: true });
  await commitAll(folder, 'Ten percent off from twenty euros');
  await git(folder, 'switch', '--quiet', 'main');
  return folder;
}

/**
 * Restores a folder to the state in which `createSample` left it, provided that nothing was committed there. Unchanged
 * files are not written, so a watcher sees no change.
 */
export async function restoreSample(folder: string): Promise<void> {
  const added = (await readdir(join(folder, 'node_modules'))).filter(
    (entry) => !linkedPackages.some((packageName) => packageName.split('/')[0] === entry),
  );
  for (const entry of added) await rm(join(folder, 'node_modules', entry), { recursive: true });
  // git neither lists nor cleans named pipes.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) if (entry.isFIFO()) await rm(join(entry.parentPath, entry.name));
  await git(folder, 'switch', '--quiet', '--force', '--discard-changes', 'main');
  await git(folder, 'clean', '--quiet', '-ffdx', '--exclude=/node_modules');
}

async function commitAll(folder: string, message: string): Promise<void> {
  await git(folder, 'add', '--all');
  await git(
    folder,
    '-c',
    'user.name=Tea Shop',
    '-c',
    'user.email=shop@example.com',
    'commit',
    '--quiet',
    `--message=${message}`,
  );
}

async function git(folder: string, ...args: readonly string[]): Promise<void> {
  try {
    // The user's git settings (signing, hooks, templates) must not affect the sample.
    const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' };
    await run('git', ['-C', folder, ...args], { env });
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      throw new UserError('git was not found.', 'Install git, or name a folder of your own with --folder DIR.');
    throw error;
  }
}
