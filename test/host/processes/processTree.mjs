// Finds all processes that belong to a started process, and ends them.
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const pollMilliseconds = 50;
const killedWithinMilliseconds = 2000;

/**
 * @typedef {object} RunningProcess
 * @property {number} pid
 * @property {number} parent
 * @property {number} group
 * @property {string} started distinguishes a process from a later one with the same pid
 */

/**
 * Every live process of this machine, without zombies. On Linux /proc is read, since small images have no ps.
 *
 * @returns {Promise<RunningProcess[]>}
 */
export async function listProcesses() {
  if (process.platform === 'win32') {
    const { stdout } = await run('tasklist', ['/fo', 'csv', '/nh'], { maxBuffer: 16 * 2 ** 20 });
    // Windows lists neither parents nor groups; the system ends trees itself.
    return stdout.split('\n').flatMap((row) => {
      const pid = /^"[^"]*","(\d+)"/.exec(row)?.[1];
      return pid === undefined ? [] : [asProcess([pid])];
    });
  }
  if (process.platform !== 'linux') {
    const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], { maxBuffer: 16 * 2 ** 20 });
    return stdout.split('\n').flatMap((row) => {
      const [pid, parent, group, state = '', ...started] = row.trim().split(/\s+/);
      return pid === '' || state.startsWith('Z') ? [] : [asProcess([pid, parent, group, started.join(' ')])];
    });
  }
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // The name in parentheses may contain anything; plain fields follow the last parenthesis.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [state, parent, group] = fields;
      return stat === '' || state === 'Z' || state === 'X' ? [] : [asProcess([pid, parent, group, fields[19]])];
    }),
  );
  return found.flat();
}

/**
 * @param {(string | undefined)[]} columns
 * @returns {RunningProcess}
 */
function asProcess([pid, parent, group, started]) {
  return { pid: Number(pid), parent: Number(parent), group: Number(group), started: started ?? '' };
}

/**
 * The root, its descendants, and the members of its group whose parents have ended. Shells in terminals have their own
 * groups and sessions, and orphans have another parent, so neither relation alone finds all.
 *
 * @param {RunningProcess[]} processes
 * @param {number} root
 * @returns {RunningProcess[]}
 */
export function familyOf(processes, root) {
  const family = new Set(processes.filter(({ pid, group }) => pid === root || group === root));
  const pids = new Set([...family].map(({ pid }) => pid));
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const candidate of processes) {
      if (pids.has(candidate.parent)) {
        family.add(candidate);
        pids.add(candidate.pid);
      }
    }
  }
  return [...family];
}

/**
 * Asks the whole family of a process to end, and then kills what is left.
 *
 * @param {number} root a process that leads its own group
 * @param {{ graceMilliseconds?: number }} [options]
 */
export async function endTree(root, { graceMilliseconds = 2000 } = {}) {
  if (process.platform === 'win32') {
    await run('taskkill', ['/pid', String(root), '/T', '/F']).catch(() => {});
    return;
  }
  /** @type {Map<string, RunningProcess>} */
  const members = new Map();
  const stillRunning = async () => {
    const processes = await listProcesses();
    for (const member of familyOf(processes, root)) members.set(identity(member), member);
    return processes.filter((candidate) => members.has(identity(candidate)));
  };
  for (const [signal, milliseconds] of /** @type {const} */ ([
    ['SIGTERM', graceMilliseconds],
    ['SIGKILL', killedWithinMilliseconds],
  ])) {
    let running = await stillRunning();
    for (const { pid } of running) sendSignal(pid, signal);
    for (const until = Date.now() + milliseconds; running.length > 0 && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
      running = await stillRunning();
    }
    if (running.length === 0) return;
  }
}

/** @param {RunningProcess} member */
function identity({ pid, started }) {
  return `${pid} ${started}`;
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in the meantime.
  }
}
