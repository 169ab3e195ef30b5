// The spool: lines from scripts that no window has taken yet, one file each, in a private folder of the user's account.
// Does not load zod, since `earshot-notify` starts with every line.
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../../base/async.ts';
import { socketHome } from '../hubFolder.ts';
import { platform } from '../platform/platform.ts';
import { renameFile } from '../files/renameFile.ts';

const MOST_ENTRIES = 1000;
const MOST_BYTES = 64 * 1024;
const MOST_TEXT = 2000;
const KEPT_MILLISECONDS = 7 * 24 * 3600_000;
const ENTRY = /^([0-9a-z]{9}-[0-9a-f]{16})\.json$/;
/** Files that are no entries are kept under this name, so that they do not fill the spool. */
const REJECTED = '.rejected';

const SCRIPT_LEVELS = ['info', 'warning', 'error'] as const;
const SCRIPT_NAME = /^[a-z0-9_-]{1,40}$/;

/** One line from a script. */
export interface SpoolEntry {
  readonly at: string;
  /** The folder that it is about: it goes to the windows that have it open. */
  readonly dir: string;
  readonly text: string;
  /** The kind is `script.<name>`. */
  readonly name: string;
  readonly level: (typeof SCRIPT_LEVELS)[number];
  readonly subject?: string | undefined;
  /** The same key is not reported again within a day. */
  readonly key?: string | undefined;
  /** The only conversation that gets it. */
  readonly to?: string | undefined;
  /** It should wake the model, which `grant` or the user's settings must allow. */
  readonly wake?: true | undefined;
  /** From the environment of a command of that conversation. */
  readonly grant?: string | undefined;
}

export type CheckedEntry =
  | { readonly ok: true; readonly entry: SpoolEntry }
  | { readonly ok: false; readonly reason: string };

export function spoolFolder(home = socketHome()): string {
  return join(home, '.earshot', 'spool');
}

/** The reason names the field that is wrong. */
export function checkEntry(value: unknown): CheckedEntry {
  if (typeof value !== 'object' || value === null) return { ok: false, reason: 'it is no object' };
  const entry = value as Readonly<Record<string, unknown>>;
  const rules: readonly [string, boolean][] = [
    ['text', isText(entry['text'], MOST_TEXT)],
    ['name', typeof entry['name'] === 'string' && SCRIPT_NAME.test(entry['name'])],
    ['level', SCRIPT_LEVELS.some((level) => level === entry['level'])],
    ['at', typeof entry['at'] === 'string' && !Number.isNaN(Date.parse(entry['at']))],
    ['dir', isText(entry['dir'], 5000)],
    ['subject', entry['subject'] === undefined || isText(entry['subject'], 200)],
    ['key', entry['key'] === undefined || isText(entry['key'], 200)],
    ['to', entry['to'] === undefined || isText(entry['to'], 100)],
    ['wake', entry['wake'] === undefined || entry['wake'] === true],
    ['grant', entry['grant'] === undefined || isText(entry['grant'], 500)],
  ];
  const wrong = rules.find(([, isRight]) => !isRight);
  return wrong === undefined
    ? { ok: true, entry: value as SpoolEntry }
    : { ok: false, reason: `${wrong[0]}: ${REASONS[wrong[0]] ?? 'it is not valid'}` };
}

const REASONS: Readonly<Record<string, string>> = {
  text: `1 to ${MOST_TEXT} characters`,
  name: '1 to 40 of a-z, 0-9, _ and -',
  level: SCRIPT_LEVELS.join(', '),
  subject: '1 to 200 characters',
  key: '1 to 200 characters',
};

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= most;
}

/** The time in the last id: entries that one program writes in the same millisecond keep their order. */
let newest = 0;

/** The entry is whole and on disk once it resolves. Rejects if the spool is full or not private. */
export async function writeEntry(entry: SpoolEntry, home?: string): Promise<string> {
  const folder = spoolFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await checkPrivate(folder);
  if ((await readdir(folder)).filter((name) => ENTRY.test(name)).length >= MOST_ENTRIES) {
    throw new Error(
      `the spool is full (${MOST_ENTRIES} lines in ${folder}); open the folder in VS Code, which takes them`,
    );
  }
  newest = Math.max(Date.now(), newest + 1);
  const id = `${newest.toString(36).padStart(9, '0')}-${randomBytes(8).toString('hex')}`;
  const part = join(folder, `.${id}`);
  const file = await open(part, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(entry)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await renameFile(part, join(folder, `${id}.json`));
  return id;
}

/** The ids of all entries, the oldest first. Removes what is older than a week, and calls `dropped` with how many. */
export async function listEntries(
  home: string | undefined,
  dropped: (count: number) => void,
): Promise<readonly string[]> {
  const folder = spoolFolder(home);
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length === 0) return [];
  await checkPrivate(folder);
  const old: string[] = [];
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(ignore);
    if (found !== undefined && Date.now() - found.mtimeMs > KEPT_MILLISECONDS) old.push(name);
  }
  for (const name of old) await rm(join(folder, name), { force: true });
  const lost = old.filter((name) => ENTRY.test(name)).length;
  if (lost > 0) dropped(lost);
  return names
    .filter((name) => !old.includes(name))
    .flatMap((name) => ENTRY.exec(name)?.[1] ?? [])
    .sort();
}

export interface StoredEntry {
  readonly entry: SpoolEntry;
  /** When it was written, milliseconds since 1970. */
  readonly written: number;
}

/** Undefined: another window has taken it, or it is no entry: then it is put aside, and `rejected` is called. */
export async function readEntry(
  id: string,
  home: string | undefined,
  rejected: (file: string, reason: string) => void,
): Promise<StoredEntry | undefined> {
  const path = join(spoolFolder(home), `${id}.json`);
  const reject = async (reason: string): Promise<StoredEntry | undefined> => {
    await renameFile(path, `${path}${REJECTED}`).catch(ignore);
    rejected(`${path}${REJECTED}`, reason);
    return undefined;
  };
  try {
    const { size, mtimeMs: written } = await lstat(path);
    if (!(await isOwn(path))) return await reject('it is no file of this user');
    if (size > MOST_BYTES) return await reject(`it has more than ${MOST_BYTES} bytes`);
    const file = await open(path, 'r');
    try {
      const checked = checkEntry(JSON.parse(await file.readFile('utf8')));
      return checked.ok ? { entry: checked.entry, written } : await reject(checked.reason);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof SyntaxError) return reject('it is not JSON');
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export async function removeEntry(id: string, home?: string): Promise<void> {
  await rm(join(spoolFolder(home), `${id}.json`), { force: true });
}

/** The token with which programs may POST lines, and nothing else. Made with the first use. */
export async function notifyToken(home = socketHome()): Promise<string> {
  const folder = join(home, '.earshot');
  const path = join(folder, 'notify-token');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, `${randomBytes(24).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 }).catch(ifExists);
  await checkPrivate(path);
  const file = await open(path, 'r');
  try {
    return (await file.readFile('utf8')).trim();
  } finally {
    await file.close();
  }
}

function ifExists(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

/** Makes it private, and rejects if it is another user's. */
async function checkPrivate(path: string): Promise<void> {
  const { user } = platform.disk;
  if (user === undefined) return;
  const { uid, mode } = await lstat(path);
  if (uid !== user) throw new Error(`${path} belongs to another user`);
  if ((mode & 0o077) !== 0) await chmod(path, mode & 0o700);
}

async function isOwn(path: string): Promise<boolean> {
  const { user } = platform.disk;
  const found = await lstat(path);
  return found.isFile() && (user === undefined || found.uid === user);
}

/** Folders as an entry names them: without links. Those that do not exist are left out. */
export async function realFolders(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(ignore)));
  return found.filter((folder) => folder !== undefined);
}
