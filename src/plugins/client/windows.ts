// Finds the windows of VS Code that have a folder open, by their sockets (WIRE D).
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hubFolder } from '../../node/hubFolder.ts';
import { isAnswered } from '../../node/privateSocket.ts';

export interface FoundWindow {
  readonly path: string;
  /** On Windows. */
  readonly token?: string;
}

const SOCKET = /^window-\d+\.sock$/;
const ADDRESS = /^window-\d+\.json$/;
const addressSchema = z.object({ pipe: z.string(), token: z.string() });

/** Those that answer, the one that was opened last first. */
export async function findWindows(folder: string, home?: string): Promise<readonly FoundWindow[]> {
  const place = await hubFolder(folder, home).catch(() => undefined);
  const names = place === undefined ? [] : await readdir(place).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(place ?? '', name);
      const window = SOCKET.test(name) ? { path: file } : ADDRESS.test(name) ? await readAddress(file) : undefined;
      if (window === undefined || !(await isAnswered(window.path))) return [];
      const opened = await stat(file).catch(() => undefined);
      return opened === undefined ? [] : [{ window, at: opened.mtimeMs }];
    }),
  );
  return found
    .flat()
    .sort((a, b) => b.at - a.at)
    .map(({ window }) => window);
}

async function readAddress(file: string): Promise<FoundWindow | undefined> {
  try {
    const { pipe, token } = addressSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    return { path: pipe, token };
  } catch {
    return undefined;
  }
}
