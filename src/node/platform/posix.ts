// macOS, BSD and other systems, by what `ps` and POSIX give.
import { lsofListening } from './listening.ts';
import { type Platform } from './parts.ts';
import { listWithPs, markedInPs, psInfo, psStartTime } from './psTable.ts';
import { unixDisk, unixPrograms, unixSockets } from './unix.ts';
import { killGroup, UnixTree } from './unixTree.ts';

export function posixPlatform(system: NodeJS.Platform): Platform {
  const isMac = system === 'darwin';
  const processes = {
    list: listWithPs,
    startTimeOf: psStartTime,
    startOf: () => 0,
    marked: async (mark: string) => (await markedInPs(mark, isMac ? 'E' : 'e')).filter(({ ended }) => !ended),
  };
  return {
    name: 'posix',
    processes: {
      interrupts: true,
      list: listWithPs,
      info: psInfo,
      startTimeOf: psStartTime,
      stampOf: (pid) => psStartTime(pid) ?? '',
      isRunning: async (pid, stamp) => stamp !== '' && psStartTime(pid) === stamp,
      // Times of the clock do not say to which boot they belong.
      isSameBoot: () => false,
      tree: (child, mark) => new UnixTree(processes, child, mark),
      kill: killGroup,
    },
    // `ps` counts the time of a process too coarsely to see that it wrote a file.
    activity: undefined,
    peers: undefined,
    listening: lsofListening,
    sockets: unixSockets,
    disk: { ...unixDisk, ignoresCase: isMac },
    programs: { ...unixPrograms, settings: isMac ? 'osx' : 'linux', target: `${system}-${process.arch}` },
    notices: {
      program: (title, text) => {
        if (!isMac) return { command: 'notify-send', given: ['--app-name', title, '--', title, text] };
        // The texts are arguments of the script, not part of it.
        const script = 'on run given\ndisplay notification (item 2 of given) with title (item 1 of given)\nend run';
        return { command: 'osascript', given: ['-e', script, title, text] };
      },
    },
  };
}
