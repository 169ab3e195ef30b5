// Runs `npm start`: build, workspace folder, server and browser, until Ctrl+C.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { build } from './packaging/build.ts';
import { cacheFolder, makeWritable, nameFor, newTemporaryFolder } from './install/cache.mjs';
import { UserError } from './console/errors.mjs';
import { runToExit } from './processes/lifetime.mjs';
import { openInBrowser } from './start/openInBrowser.ts';
import { createReporter } from './console/report.mjs';
import { createSample } from './sample.ts';
import { startVscodeServer } from './editor/serve.ts';
import { repository } from './setup.mjs';
import { portProblem, readStartOptions } from './start/startOptions.mjs';

const report = createReporter();

const userSettings = {
  // As in any other VS Code, the secondary side bar with the chat is open.
  'workbench.secondarySideBar.defaultVisibility': null,
  // The server is on the user's machine, so its ports need no forwarding, and no message should offer it.
  'remote.autoForwardPorts': false,
};

await runToExit(start, { stoppedMessage: 'Earshot has stopped.' });

async function start(): Promise<number> {
  const options = await readStartOptions(process.argv.slice(2));
  await report.step('Earshot', async (say) => {
    say('building');
    await build();
  });

  const place = options.folder === undefined ? await temporaryPlace() : await lastingPlace(options.folder);
  const port = options.port ?? (await preferredPort(place.folder));
  const server = await report.step('VS Code server', (say) => {
    say('starting');
    return startVscodeServer({
      ...place,
      ...(port === undefined ? {} : { port }),
      installed: repository,
      settings: { ...userSettings, ...options.settings },
    });
  });
  const url = server.url(place.folder, {});

  report.line(`Folder: ${place.folder}`);
  if (options.open && !(await openInBrowser(url)))
    report.line('No browser could be opened from here: open the address yourself.');
  report.line('Ctrl+C ends it.');
  report.line(`Earshot is ready: ${url}`);

  await server.ended;
  throw new UserError('The VS Code server ended unexpectedly.', `Its log: ${join(place.dataDir, 'server.log')}`);
}

interface Place {
  readonly folder: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The sample and all state, removed when the run ends. */
async function temporaryPlace(): Promise<Place> {
  const temporary = await newTemporaryFolder();
  return { folder: await createSample(temporary), dataDir: join(temporary, 'server'), env: usersSockets() };
}

/** The user's own folder, with conversations and window state kept for the next run. */
async function lastingPlace(folder: string): Promise<Place> {
  const dataDir = join(cacheFolder(), 'folders', nameFor(folder));
  await makeWritable(dataDir);
  // Commits made in this window should have the user's name.
  const gitConfiguration = process.env['GIT_CONFIG_GLOBAL'] ?? join(homedir(), '.gitconfig');
  const git = existsSync(gitConfiguration) && { GIT_CONFIG_GLOBAL: gitConfiguration };
  return { folder, dataDir, env: { ...usersSockets(), ...git } };
}

/** The window's sockets are in the user's own home, where agents of other programs look for them. */
function usersSockets(): NodeJS.ProcessEnv {
  return { EARSHOT_HOME: process.env['EARSHOT_HOME'] };
}

/** Browsers store state by port, so the same folder gets the same port. */
async function preferredPort(folder: string): Promise<number | undefined> {
  const [firstPort, count] = [20_000, 20_000];
  const port = firstPort + (Number.parseInt(nameFor(folder).slice(-8), 16) % count);
  return (await portProblem(port)) === undefined ? port : undefined;
}
