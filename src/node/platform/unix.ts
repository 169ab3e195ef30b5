// What Linux and other POSIX systems have in common.
import { constants } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, posix } from 'node:path';
import { ignore } from '../../base/async.ts';
import { type Disk, type Programs, type SocketNames } from './parts.ts';

/** Longer socket paths fail or are silently truncated. */
const LONGEST_SOCKET = 100;

export const unixSockets: SocketNames = {
  areFiles: true,
  inFolder: (folder, file) => posix.join(folder, file),
  watcherIn: (folder, name) => ({ path: posix.join(folder, `${name}.sock`) }),
  forName: async (name) => {
    const { uid } = userInfo();
    const places = [process.env['XDG_RUNTIME_DIR'], tmpdir(), '/tmp'].filter(
      (place) => place !== undefined && place !== '',
    );
    for (const place of places) {
      const runtime = join(place ?? '', `earshot-${uid}`);
      const socket = join(runtime, `${name}.sock`);
      if (Buffer.byteLength(socket) <= LONGEST_SOCKET && (await isPrivate(runtime, uid))) return socket;
    }
    throw new Error('there is no private folder for a socket (XDG_RUNTIME_DIR, the folder for temporary files, /tmp)');
  },
};

/** Checks the owner too: in a world-writable folder, another user may have created the folder first. */
async function isPrivate(folder: string, uid: number): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch(ignore);
    const found = await lstat(folder);
    return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

export const unixDisk: Disk = {
  syncedWrites: 0,
  syncsFolders: true,
  nonBlocking: constants.O_NONBLOCK,
  hasModes: true,
  user: process.getuid?.(),
  ignoresCase: false,
  replacesOpenFiles: true,
  pathOfOpened: async () => undefined,
  entryOf: undefined,
  hasLocalClock: () => false,
};

export const unixPrograms: Programs = {
  settings: 'linux',
  target: `linux-${process.arch}`,
  options: { detached: true },
  leash: [],
  separator: ':',
  fileName: (name) => name,
  withEndings: (path) => [path],
  isAbsolute: posix.isAbsolute,
  withSlashes: (path) => path,
  start: (file, args) => ({ file, args, isVerbatim: false }),
  defaultShell: ({ env, loginShell }) => env['SHELL'] || loginShell(),
  inherited: [
    'HOME',
    'LOGNAME',
    'PATH',
    'SHELL',
    'TERM',
    'USER',
    'LANG',
    'LC_ALL',
    'TMPDIR',
    'XDG_CACHE_HOME',
    'XDG_CONFIG_HOME',
    'XDG_DATA_HOME',
  ],
  ownNode: (path) => `ELECTRON_RUN_AS_NODE=1 ${JSON.stringify(path)}`,
  // The editor's own Node is used where no other is installed.
  launcher: (node, program) => {
    const [file, own] = [program, node].map((path) => `'${path.replaceAll("'", `'\\''`)}'`);
    const text = `#!/bin/sh\nif command -v node >/dev/null 2>&1; then exec node ${file} "$@"; fi\nELECTRON_RUN_AS_NODE=1 exec ${own} ${file} "$@"\n`;
    return { ending: '', text };
  },
};
