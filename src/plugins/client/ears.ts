// What other programs do with `earshot-ears`, which watches a folder while no window has it open: start it, ask for its
// state, and end it. Does not load zod, since a hook starts with every tool call.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join, parse, resolve } from 'node:path';
import { socketHome } from '../../node/hubFolder.ts';
import { type FoundWindow, windowsOf } from './windowSockets.ts';
import { renameFile } from '../../node/files/renameFile.ts';

const MOST_DEPTH = 64;
const MOST_RECORD = 10_000;
const ANSWERED_WITHIN = 10_000;
/** What it needs of the environment. Keys of the agent that starts it stay with the agent. */
const PASSED =
  /^(PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|EARSHOT_HOME|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|GH_CONFIG_DIR|GH_HOST|GLAB_CONFIG_DIR|GITLAB_HOST|(HTTPS?|ALL|NO)_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/** The program that a hook starts. */
export interface EarsProgram {
  readonly node: string;
  /** The path of `ears.js`. */
  readonly program: string;
}

/** What `earshot-ears` says about itself. */
export interface EarsState {
  readonly pid: number;
  readonly root: string;
  readonly since: string;
  readonly agents: readonly string[];
  /** What cannot be used, with the next step. Absent: it is an older one. */
  readonly problems?: readonly string[];
}

function recordFile(home: string): string {
  return join(home, '.earshot', 'ears.json');
}

/** Undefined: it is not installed. */
export async function readEarsProgram(home = socketHome()): Promise<EarsProgram | undefined> {
  try {
    const text = await readFile(recordFile(home), 'utf8');
    if (text.length > MOST_RECORD) return undefined;
    const { node, program } = JSON.parse(text) as Record<string, unknown>;
    return typeof node === 'string' && typeof program === 'string' ? { node, program } : undefined;
  } catch {
    return undefined;
  }
}

/** From now on hooks start this program. */
export async function recordEarsProgram(program: EarsProgram, home = socketHome()): Promise<void> {
  const file = recordFile(home);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const part = `${file}.${process.pid}.tmp`;
  await writeFile(part, `${JSON.stringify(program)}\n`, { mode: 0o600 });
  await chmod(part, 0o600);
  await renameFile(part, file);
}

/** Like `recordEarsProgram`, unless another program is recorded that is still there. */
export async function offerEarsProgram(program: EarsProgram, home = socketHome()): Promise<void> {
  const known = await readEarsProgram(home);
  if (known === undefined || !existsSync(known.program)) await recordEarsProgram(program, home);
}

/**
 * The folder to watch for an agent: the nearest one above that is a repository, or its own. Undefined: a home folder or a
 * whole disk, which is too much to watch.
 */
export function folderToWatch(folder: string, home = homedir()): string | undefined {
  const own = resolve(folder);
  let root = own;
  for (let depth = 0; depth < MOST_DEPTH; depth += 1) {
    if (existsSync(join(root, '.git'))) break;
    const parent = dirname(root);
    if (parent === root) {
      root = own;
      break;
    }
    root = parent;
  }
  return root === parse(root).root || root === resolve(home) ? undefined : root;
}

/** Starts it in the background, unless it is not installed. It ends at once if another one or a window watches already. */
export async function startEars(folder: string, home = socketHome()): Promise<boolean> {
  const root = folderToWatch(folder);
  const installed = await readEarsProgram(home);
  if (root === undefined || installed === undefined || !existsSync(installed.program)) return false;
  const kept = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  const env = { ...Object.fromEntries(kept), EARSHOT_HOME: home, ELECTRON_RUN_AS_NODE: '1' };
  const child = spawn(installed.node, [installed.program, 'serve', '--dir', root], {
    ...{ cwd: home, env, detached: true, stdio: 'ignore', windowsHide: true },
  });
  const { promise, resolve: done } = Promise.withResolvers<boolean>();
  child.once('error', () => done(false));
  child.once('spawn', () => done(true));
  child.unref();
  return promise;
}

/** Ends the one that watches this very folder. Resolves, once it has released everything, to how many were ended. */
export async function endEars(root: string, home = socketHome()): Promise<number> {
  const found = (await windowsOf(root, home)).filter(({ isEars }) => isEars === true);
  const ended = await Promise.all(found.map((ears) => ask(ears, 'release')));
  return ended.filter((answer) => answer !== undefined).length;
}

/** Undefined: nobody answers there. */
export async function earsState(ears: FoundWindow): Promise<EarsState | undefined> {
  try {
    const state = JSON.parse((await ask(ears, 'status')) ?? '') as EarsState;
    return typeof state.pid === 'number' ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves once the other side has closed the connection, with what it has sent. Undefined: it did not answer. */
function ask({ path, token }: FoundWindow, type: 'release' | 'status'): Promise<string | undefined> {
  return new Promise((done) => {
    const socket = connect(path);
    let text = '';
    const end = (answer: string | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      done(answer);
    };
    const timer = setTimeout(() => end(undefined), ANSWERED_WITHIN);
    socket.on('error', () => end(undefined));
    socket.on('data', (chunk: Buffer) => {
      if (text.length < MOST_RECORD) text += chunk.toString('utf8');
    });
    socket.on('close', () => end(text));
    socket.write(`${JSON.stringify({ type, token })}\n`);
  });
}
