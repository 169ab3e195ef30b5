// The cache folder that all clones share. A folder in it is either complete or absent.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { homedir, hostname, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { UserError } from '../console/errors.mjs';
import { isEnding, onEnd } from '../processes/lifetime.mjs';
import { listProcesses } from '../processes/processTree.mjs';

const abandonedAfterMilliseconds = 24 * 60 * 60 * 1000;
const keptLogs = 30;
const ownedName = /\.([0-9a-f]{8})\.(\d+)\.[0-9a-f]{6}\.tmp$/;

/**
 * @param {NodeJS.ProcessEnv} [environment]
 * @param {NodeJS.Platform} [platform]
 * @returns {string}
 */
export function cacheFolder(environment = process.env, platform = process.platform) {
  return join(userCacheFolder(environment, platform), 'earshot');
}

/**
 * @param {NodeJS.ProcessEnv} environment
 * @param {NodeJS.Platform} platform
 * @returns {string}
 */
function userCacheFolder(environment, platform) {
  const named = environment['XDG_CACHE_HOME'];
  // By its specification, a relative path is invalid and must be ignored.
  if (named !== undefined && isAbsolute(named)) return named;
  if (platform === 'win32') return environment['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches');
  return join(homedir(), '.cache');
}

/**
 * The path of a new log file, in an existing folder. Also removes old logs.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function newLogFile(name) {
  const folder = join(cacheFolder(), 'logs');
  await makeWritable(folder);
  const logs = (await readdir(folder)).filter((file) => file.endsWith('.log')).sort();
  for (const file of logs.slice(0, -keptLogs)) await rm(join(folder, file), { force: true });
  return join(folder, `${new Date().toISOString().replace(/[:.]/g, '-')}-${name}-${process.pid}.log`);
}

/**
 * Makes sure that a folder exists and is writable.
 *
 * @param {string} folder
 * @param {string} [nextStep]
 */
export async function makeWritable(
  folder,
  nextStep = 'Change its permissions, or set XDG_CACHE_HOME to a folder of your own, and run the command again.',
) {
  const probe = join(folder, `.write-${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await mkdir(probe, { recursive: true });
    await rmdir(probe);
  } catch (error) {
    throw new UserError(`The folder ${folder} cannot be written to (${errorCode(error)}).`, nextStep);
  }
}

/**
 * Returns once `target` exists. If it is missing, it is built in a temporary folder and then renamed, so that an
 * interrupted build is never taken for a complete one. Two processes may build at the same time: the first to finish
 * wins, and the other discards its own. That wastes time, but needs no lock that could be left behind.
 *
 * @param {string} target
 * @param {(partial: string) => Promise<string>} build fills the empty folder; returns the path in it to keep
 * @param {{ isWhole?: () => Promise<boolean>, nursery?: string, nextStep?: string }} [options]
 *   isWhole: whether the existing target is usable; nursery: the folder to build in, on the same disk as the target;
 *   nextStep: what the user can do if it cannot be written to
 */
export async function buildWhole(target, build, options = {}) {
  const { isWhole = async () => existsSync(target), nursery = dirname(target), nextStep } = options;
  if (await isWhole()) return;
  await makeWritable(nursery, nextStep);

  const partial = partialName(nursery, target);
  await mkdir(partial);
  const discard = () => rm(partial, { recursive: true, force: true, maxRetries: 3 });
  const forget = onEnd('folders', discard);
  try {
    const finished = await build(partial);
    if (existsSync(target) && !(await isWhole())) {
      // An unusable folder is moved away as a whole: removing it in place could be interrupted.
      await rename(target, join(partial, `unfit-${basename(target)}`));
    }
    await rename(finished, target).catch(async (/** @type {unknown} */ error) => {
      // Another set-up finished first; its result is equivalent.
      if (!(await isWhole())) throw error;
    });
  } finally {
    // If the process is ending, the clean-up registered above removes the folder after all writers have ended.
    if (!isEnding()) {
      forget();
      await discard();
    }
  }
}

/**
 * The name contains the builder, so that others can tell an abandoned folder from one that is being filled.
 *
 * @param {string} nursery
 * @param {string} target
 * @returns {string}
 */
function partialName(nursery, target) {
  const owner = `${thisMachine()}.${process.pid}.${randomBytes(3).toString('hex')}`;
  return join(nursery, `${basename(target)}.${owner}.tmp`);
}

function thisMachine() {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
}

/**
 * Removes folders of builders that have ended. A cache may be shared between machines or containers, whose pids cannot
 * be checked here: their folders are removed only after a day.
 *
 * @param {string} folder
 */
export async function removeAbandoned(folder) {
  const temporary = (await readdir(folder).catch(() => [])).filter((name) => ownedName.test(name));
  if (temporary.length === 0) return;
  const alive = new Set((await listProcesses()).map(({ pid }) => pid));
  for (const name of temporary) {
    const [, machine, pid] = ownedName.exec(name) ?? [];
    const path = join(folder, name);
    const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now());
    const abandoned = machine === thisMachine() ? !alive.has(Number(pid)) : age > abandonedAfterMilliseconds;
    // Children of a killed builder may still be writing there; a later run then removes the folder.
    if (abandoned) await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

/**
 * A new folder for one run, removed when the process ends, or by a later run if this one is killed. Its path is short,
 * since it will contain sockets.
 *
 * @returns {Promise<string>}
 */
export async function newTemporaryFolder() {
  const base = await realpath(tmpdir());
  await removeAbandoned(base);
  const folder = partialName(base, 'earshot');
  await mkdir(folder, { mode: 0o700 });
  onEnd('folders', () => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/**
 * A short name for a path, for folders that belong to it.
 *
 * @param {string} path
 * @returns {string}
 */
export function nameFor(path) {
  const readable = basename(path)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 24);
  return `${readable}-${createHash('sha256').update(path).digest('hex').slice(0, 12)}`;
}

/**
 * @param {unknown} error
 * @returns {string}
 */
export function errorCode(error) {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : String(error);
}
