// Ports on which processes listen: from the kernel's tables on Linux, by lsof on other POSIX systems.
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type ListeningPort } from './parts.ts';

/** Of a table of sockets: those that listen. */
const LISTENS = '0A';
const LONGEST_COMMAND = 2000;
const MOST_OUTPUT = 4 * 1024 * 1024;

export function lsofListening(pids: readonly number[]): Promise<readonly ListeningPort[]> {
  const args = ['-nP', '-a', '-p', pids.join(','), '-iTCP', '-sTCP:LISTEN', '-Fpn'];
  return new Promise((resolve) => {
    // Without it, or without ports, it fails and prints nothing.
    execFile('lsof', args, { maxBuffer: MOST_OUTPUT, timeout: 10_000 }, (_error, stdout) => resolve(parseLsof(stdout)));
  });
}

export async function procListening(pids: readonly number[]): Promise<readonly ListeningPort[]> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => '')),
  );
  const sockets = new Map(tables.flatMap((table) => [...parseSocketTable(table)]));
  const found: ListeningPort[] = [];
  for (const pid of sockets.size === 0 ? [] : pids) {
    const links = (await readdir(`/proc/${pid}/fd`).catch(() => [])).map((name) =>
      readlink(`/proc/${pid}/fd/${name}`).catch(() => ''),
    );
    const own = (await Promise.all(links)).flatMap((link) => sockets.get(link) ?? []);
    if (own.length === 0) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const shown = command.slice(0, LONGEST_COMMAND).replaceAll('\0', ' ').trim();
    found.push(...own.map((socket) => ({ ...socket, pid, command: shown })));
  }
  return onePerPort(found);
}

/** The sockets that listen, by the target of the links to them. */
export function parseSocketTable(table: string): ReadonlyMap<string, Pick<ListeningPort, 'port' | 'everywhere'>> {
  const sockets = new Map<string, Pick<ListeningPort, 'port' | 'everywhere'>>();
  for (const line of table.split('\n')) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTENS || inode === undefined) continue;
    sockets.set(`socket:[${inode}]`, { port: Number.parseInt(port, 16), everywhere: /^0+$/.test(address) });
  }
  return sockets;
}

/** Lines `p812` with a process and `n127.0.0.1:3000` or `n*:3000` with an address of it. */
export function parseLsof(output: string): readonly ListeningPort[] {
  const found: ListeningPort[] = [];
  let pid = 0;
  for (const line of output.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    const colon = line.lastIndexOf(':');
    const port = Number(line.slice(colon + 1));
    if (!line.startsWith('n') || colon === -1 || !Number.isInteger(port)) continue;
    found.push({ port, pid, everywhere: /^n(?:\*|0\.0\.0\.0|\[::\])$/.test(line.slice(0, colon)), command: '' });
  }
  return onePerPort(found);
}

/** A server often listens on IPv4 and IPv6, and its workers share its socket: the first process counts. */
function onePerPort(found: readonly ListeningPort[]): readonly ListeningPort[] {
  const ports = new Map<number, ListeningPort>();
  for (const one of found) {
    const known = ports.get(one.port);
    ports.set(one.port, known === undefined ? one : { ...known, everywhere: known.everywhere || one.everywhere });
  }
  return [...ports.values()];
}
