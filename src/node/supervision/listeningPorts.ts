// Finds the TCP ports on which a command listens.
import { type ListeningPort, type ProcessInfo } from '../platform/parts.ts';
import { platform } from '../platform/platform.ts';
import { descendantsOf } from '../platform/unixTree.ts';

/** Those of the process, of its group, of what it started, and of processes with its mark. Empty on Windows. */
export async function listeningPorts(pid: number, mark: string | undefined): Promise<readonly ListeningPort[]> {
  const { listening, peers, processes } = platform;
  if (listening === undefined) return [];
  const all = await processes.list();
  const descendants = new Set(descendantsOf(pid, all));
  // Processes older than the command cannot belong to it.
  const since = Number(all.find((one) => one.pid === pid)?.started ?? 0);
  const hasMark = ({ pid: other, started }: ProcessInfo) =>
    mark !== undefined && Number(started) >= since && peers?.markOf(other) === mark;
  const isOwn = (one: ProcessInfo) => one.group === pid || descendants.has(one.pid) || hasMark(one);
  const own = all.filter((one) => !one.ended && isOwn(one)).map((one) => one.pid);
  return own.length === 0 ? [] : listening(own);
}
