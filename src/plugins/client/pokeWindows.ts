// Tells windows that the spool has a line for them, over their sockets. The line itself is only in the spool, so that a
// window that is killed meanwhile loses nothing.
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { socketHome } from '../../node/hubFolder.ts';
import { findSockets, type FoundWindow, socketsIn } from './windowSockets.ts';

const ANSWERED_WITHIN = 3000;

/** The number of conversations that got the line; 0: no window took it so far. */
export async function pokeWindows(id: string, folder: string, toOne: boolean, home = socketHome()): Promise<number> {
  const near = await findSockets(folder, home);
  const taken = await pokeAll(near, id);
  if (taken > 0 || !toOne) return taken;
  // A command may have left the folder of its window: its conversation may be in any.
  const hubs = join(home, '.earshot', 'hubs');
  const names = await readdir(hubs).catch((): string[] => []);
  const all = (await Promise.all(names.map((name) => socketsIn(join(hubs, name), folder)))).flat();
  return pokeAll(
    all.filter(({ path }) => !near.some((one) => one.path === path)),
    id,
  );
}

async function pokeAll(windows: readonly FoundWindow[], id: string): Promise<number> {
  const counts = await Promise.all(windows.map((window) => poke(window, id)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** 0 if nobody listens there any more, or the answer takes too long. */
function poke({ path, token }: FoundWindow, id: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let text = '';
    const end = (count: number) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(count);
    };
    const timer = setTimeout(() => end(0), ANSWERED_WITHIN);
    socket.on('error', () => end(0));
    socket.on('close', () => end(0));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n') || text.length > 10_000) end(matchedIn(text));
    });
    socket.write(`${JSON.stringify({ type: 'spooled', id, token })}\n`);
  });
}

function matchedIn(line: string): number {
  try {
    const { matched } = JSON.parse(line) as { readonly matched?: unknown };
    return typeof matched === 'number' ? matched : 0;
  } catch {
    return 0;
  }
}
