// `earshot-ears` as hooks start it: the built program, recorded in a home of the test.
import { execFile } from 'node:child_process';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EarsState, earsState, endEars, recordEarsProgram, startEars } from '../../../src/plugins/client/ears.ts';
import { outsideFolder } from '../../../src/node/hubFolder.ts';
import { agentProcess } from '../../../src/node/agentProcess.ts';
import { attachOrStart } from '../../../src/plugins/hook/runHook.ts';
import { type ListenerClient } from '../../../src/plugins/client/listenerClient.ts';
import { findSockets } from '../../../src/plugins/client/windowSockets.ts';
import { listenKey } from '../../../src/plugins/host/consent.ts';
import { createEarsApprovals } from '../../../src/plugins/host/approvedPrograms.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type Notification } from '../../../src/protocol/notification.ts';
import { builtProgram } from '../builtProgram.ts';
import { atTestEnd } from '../endings.ts';
import { recordingLogger } from '../recordingLogger.ts';
import { makeOutsideFolders, type OutsideFolders } from './outsideWorld.ts';

const earsProgram = () => builtProgram('src/bin/ears.ts');

export interface EarsWorld extends OutsideFolders {
  /** Undefined: nobody watches, or a window. */
  state(): Promise<EarsState | undefined>;
}

/** Installed for these agents; nobody watches the folder yet. Whatever was started ends with the test. */
export async function makeEarsWorld(agents: readonly string[] = ['claude-code']): Promise<EarsWorld> {
  const folders = await makeOutsideFolders();
  const { folder, home } = folders;
  // The folder to watch is the repository.
  await promisify(execFile)('git', ['init', '-q', folder]);
  await recordEarsProgram({ node: process.execPath, program: await earsProgram() }, home);
  const approved = createEarsApprovals(home, recordingLogger([]));
  for (const agent of agents) await approved.add(listenKey(agent));
  atTestEnd(async () => {
    await endEars(folder, home);
  });
  return {
    ...folders,
    state: async () => {
      const [found] = await findSockets(folder, home);
      return found?.isEars === true ? earsState(found) : undefined;
    },
  };
}

/** Resolves once the folder is watched. */
export async function untilWatched({ folder, home }: OutsideFolders): Promise<void> {
  while ((await findSockets(folder, home)).length === 0) {
    await startEars(folder, home);
    const names = { agent: 'nobody', version: '1' };
    await attachOrStart(folder, names, home).then(
      (window) => window?.close(),
      () => undefined,
    );
  }
}

/** Resolves once the session has pending notifications, wherever the folder is watched. */
export async function untilPending(
  { folder, home }: OutsideFolders,
  agent = 'claude-code',
  session = 's1',
): Promise<void> {
  const names = { agent, version: '1', session, client: agentProcess(process.pid) };
  let window: ListenerClient | undefined;
  // A hook gives up after a while, since its agent waits; a test does not.
  while (window === undefined) window = await attachOrStart(folder, names, home);
  try {
    while (window.count === 0) {
      await new Promise<void>((resolve) => {
        window.onDidChange = resolve;
        if (window.count > 0) resolve();
      });
    }
  } finally {
    window.close();
  }
}

/** The user's settings for `earshot-ears`. */
export async function allowEars({ home }: OutsideFolders, settings: object): Promise<void> {
  await mkdir(join(home, '.earshot'), { recursive: true });
  await writeFile(join(home, '.earshot', 'settings.json'), JSON.stringify(settings));
}

/** All events of the logs of the folder's agents, as they are on disk. */
export async function outsideEvents({ folder, home }: OutsideFolders): Promise<readonly LogEvent[]> {
  const place = await outsideFolder(folder, home);
  const events: LogEvent[] = [];
  for await (const file of glob('**/events.jsonl', { cwd: place })) {
    const text = await readFile(join(place, file), 'utf8');
    // A line may be half written.
    events.push(...text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as LogEvent] : [])));
  }
  return events;
}

/** What was queued for the folder's agents, as it is on disk. */
export async function queuedFor(world: OutsideFolders): Promise<readonly Notification[]> {
  const events = await outsideEvents(world);
  return events.flatMap((event) => (event.type === 'notification_queued' ? [event.notification] : []));
}
