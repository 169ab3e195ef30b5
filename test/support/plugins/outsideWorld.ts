// A workspace with a window that outside agents connect to, and helpers to change it and to wait for events.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Listener } from '../../../src/core/listener.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { atTestEnd } from '../endings.ts';
import { type ListeningOptions, type ListeningWindow, openListeningWindow } from './listeningWindow.ts';
import { type AgentPlace, useTool } from './outsideAgents.ts';

/** The content of `src/menu.txt`. */
export const MENU = ['tea', 'coffee', 'water', ''].join('\n');

export interface OutsideFolders extends AgentPlace {
  /** The folder that contains storage and workspace of the headless window. */
  readonly root: string;
  write(path: string, text: string): Promise<void>;
}

export interface OutsideWorld extends OutsideFolders {
  /** A test may close the window and open another one. */
  window: ListeningWindow;
  /** Resolves once a listener gets an event that fits, or if it already has a notification that fits. */
  event(fits: (event: LogEvent) => boolean): Promise<void>;
}

export async function makeOutsideFolders(): Promise<OutsideFolders> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-outside-'));
  atTestEnd(() => rm(root, { recursive: true, force: true, maxRetries: 10 }));
  const folder = join(root, 'workspace');
  await mkdir(join(folder, 'src'), { recursive: true });
  const write = (path: string, text: string) => writeFile(join(folder, path), text);
  await write('src/menu.txt', MENU);
  return { root, home: join(root, 'home'), folder, write };
}

export async function openOutsideWorld(options: ListeningOptions = {}): Promise<OutsideWorld> {
  const folders = await makeOutsideFolders();
  const window = await openListeningWindow(folders.root, { home: folders.home, ...options });
  const world: OutsideWorld = { ...folders, window, event: (fits) => waitForEvent(world.window, fits) };
  atTestEnd(() => world.window.close());
  return world;
}

async function waitForEvent({ listeners }: ListeningWindow, fits: (event: LogEvent) => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const followed = new Set<Listener>();
  const follow = async () => {
    for (const listener of listeners.live.filter((one) => !followed.has(one))) {
      followed.add(listener);
      const held = listener.log.onDidAppend(({ event }) => {
        if (fits(event)) resolve();
      });
      atTestEnd(async () => held.dispose());
      const before = await listeners.records(listener);
      const queued = before.ok ? before.value : [];
      if (queued.some(({ notification }) => fits({ type: 'notification_queued', notification } as LogEvent))) resolve();
    }
  };
  const joined = listeners.onDidJoin(() => void follow().catch(reject));
  await follow();
  await promise;
  joined.dispose();
}

export function queuedAs(kind: string, subject: string, text = ''): (event: LogEvent) => boolean {
  return (event) => {
    if (event.type !== 'notification_queued') return false;
    const { kind: found, subject: about, message } = event.notification;
    return `${found.source}.${found.name}` === kind && about === subject && message.includes(text);
  };
}

/** Matches the notification that the file has changed, with this text in its diff. */
export function changedTo(text: string, path = 'src/menu.txt'): (event: LogEvent) => boolean {
  return queuedAs('file.changed', `file:${path}`, text);
}

/** Claude reads a file. Resolves with the output of its hook. */
export function readFileAs(place: AgentPlace, path = 'src/menu.txt', session?: string): Promise<string> {
  const input = { file_path: join(place.folder, path) };
  return useTool(place, { tool: 'Read', input, ...(session && { session }) });
}
