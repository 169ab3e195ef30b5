// The process table of Windows, from the programs that the system has. Each takes a moment, so none runs synchronously
// and none runs for a command that leaves nothing behind.
import { execFile } from 'node:child_process';
import { type ProcessInfo } from './parts.ts';

const MOST_OUTPUT = 16 * 1024 * 1024;
const LONGEST = 20_000;
/** How far a start time that was taken by the process itself or its parent may be from the system's. */
const TOLERANCE_MILLISECONDS = 2000;

export type RunProgram = (program: string, args: readonly string[]) => Promise<string>;

/** The output of the program; empty if it cannot be run. */
export const runProgram: RunProgram = (program, args) =>
  new Promise((resolve) => {
    const options = { windowsHide: true, maxBuffer: MOST_OUTPUT, timeout: LONGEST };
    execFile(program, args, { ...options, encoding: 'buffer' }, (_error, stdout) => resolve(decode(stdout)));
  });

/** `wmic` writes UTF-16 to files and, on some versions, to pipes. */
function decode(bytes: Buffer): string {
  return bytes.includes(0) ? bytes.toString('utf16le') : bytes.toString('utf8');
}

/** Newer versions have no `wmic`, older ones start PowerShell slowly. Empty if both are missing or forbidden. */
export async function listWindows(run: RunProgram): Promise<readonly ProcessInfo[]> {
  const found = readColumns(await run('wmic', ['process', 'get', 'Name,ParentProcessId,ProcessId']));
  if (found.length > 0) return found;
  const script = 'Get-CimInstance Win32_Process | % { "$($_.Name)  $($_.ParentProcessId)  $($_.ProcessId)" }';
  return readColumns(await runPowerShell(run, script));
}

/** The name may contain spaces; the columns are sorted by name. */
function readColumns(text: string): readonly ProcessInfo[] {
  return text.split('\n').flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const [parent = 0, pid = 0] = words.slice(-2).map(Number);
    if (words.length < 3 || !Number.isInteger(parent) || !Number.isInteger(pid)) return [];
    return { pid, name: words.slice(0, -2).join(' '), parent, group: 0, session: 0, started: '', ended: false };
  });
}

/** `stamp`: milliseconds since 1970. False if the system does not say when the process started. */
export async function hasStarted(run: RunProgram, pid: number, stamp: string): Promise<boolean> {
  const script = `([DateTimeOffset](Get-Process -Id ${pid}).StartTime).ToUnixTimeMilliseconds()`;
  const started = Number.parseInt(await runPowerShell(run, script), 10);
  return Math.abs(started - Number(stamp)) <= TOLERANCE_MILLISECONDS;
}

function runPowerShell(run: RunProgram, script: string): Promise<string> {
  return run('powershell', ['-NoProfile', '-NonInteractive', '-Command', script]);
}
