// Linux: processes from /proc, opened folders by /proc/self/fd, and writes that return once the bytes are on disk.
import { constants } from 'node:fs';
import { readlink } from 'node:fs/promises';
import { ignore } from '../../base/async.ts';
import { procListening } from './listening.ts';
import { type Platform, type ProcessInfo } from './parts.ts';
import {
  isOfThisBoot,
  procActivity,
  procMarkOf,
  procPeers,
  procStartTime,
  readProcess,
  readProcesses,
} from './procTable.ts';
import { unixDisk, unixPrograms, unixSockets } from './unix.ts';
import { killGroup, UnixTree } from './unixTree.ts';

/** File systems whose times come from this machine's clock; others may use a server's. */
const LOCAL = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlay
]);

const processes = {
  list: readProcesses,
  startTimeOf: procStartTime,
  startOf: (pid: number) => Number(tryRead(pid)?.started ?? 0),
  marked: (mark: string, since: number) =>
    // Processes older than the command cannot belong to it.
    readProcesses().filter(({ pid, started, ended }) => !ended && Number(started) >= since && procMarkOf(pid) === mark),
};

function tryRead(pid: number): ProcessInfo | undefined {
  try {
    return readProcess(pid);
  } catch {
    return undefined;
  }
}

export const linux: Platform = {
  name: 'linux',
  processes: {
    interrupts: true,
    list: async () => readProcesses(),
    info: tryRead,
    startTimeOf: procStartTime,
    stampOf: (pid) => procStartTime(pid) ?? '',
    isRunning: async (pid, stamp) => procStartTime(pid) === stamp,
    isSameBoot: isOfThisBoot,
    tree: (child, mark) => new UnixTree(processes, child, mark),
    kill: killGroup,
  },
  activity: procActivity,
  peers: procPeers,
  listening: procListening,
  sockets: unixSockets,
  disk: {
    ...unixDisk,
    // As strong as a sync, including the disk's own cache.
    syncedWrites: constants.O_DSYNC,
    pathOfOpened: (handle) => readlink(`/proc/self/fd/${handle.fd}`).catch(ignore),
    entryOf: (folder, name) => `/proc/self/fd/${folder.fd}/${name}`,
    hasLocalClock: (type) => LOCAL.has(type >>> 0),
  },
  programs: unixPrograms,
  notices: {
    program: (title, text) => ({ command: 'notify-send', given: ['--app-name', title, '--', title, text] }),
  },
};
