// Earshot for editors that speak the Agent Client Protocol: node dist/acp.js, JSON-RPC over stdin and stdout.
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AcpAgent } from '../acp/agent.ts';
import { type AcpFolder } from '../acp/acpFolder.ts';
import { type Result } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { LineSplitter } from '../base/json/jsonLines.ts';
import { type Model } from '../core/ports/ports.ts';
import { createConfiguredModels, noteLists } from '../models/configuredModels.ts';
import { KnownModels } from '../models/facts/modelFacts.ts';
import { createGuideModel } from '../models/guide/guide.ts';
import { environmentKey, type Provider, providersIn } from '../models/providers.ts';
import { findWindows } from '../plugins/client/windows.ts';
import { PROGRAMS, runProgram, stderrLogger as logger } from '../node/program.ts';
import { installNotifyProgram } from '../node/scripts/notifyProgram.ts';
import { readSettings, type Settings } from '../protocol/settings.ts';
import { openFolderAgent } from './acp/folderAgent.ts';
import { joinWindow } from './acp/joinWindow.ts';
import { readSettingsFile } from './headless/settingsFile.ts';

const HELP = `node dist/acp.js [--model NAME --base-url URL] [--settings FILE] [--storage FOLDER] [--headless]

A folder that is open in VS Code: its conversations are the sessions, and its settings hold. Otherwise, or with --headless:

  --model, --base-url  the model that answers; without them the built-in Guide, which uses no AI
  --settings           a JSON file with settings of Earshot, such as {"earshot.approvals.mode": "edits"}
  --storage            where conversations are stored (default: ~/.earshot/acp)
  --headless           does not join windows of VS Code

The key of --base-url is read from EARSHOT_API_KEY, that of a provider in earshot.providers from EARSHOT_API_KEY_<ID>. Keys\nof well-known providers are also read from their own variables, such as ANTHROPIC_API_KEY, and sent only there.`;

const LONGEST_LINE = 32 * 1024 * 1024;
const VERSION = '1';
/** Milliseconds between looks for the window of lost sessions. */
const REJOIN_EVERY = 1000;
const USER_FOLDER = join(homedir(), '.earshot');

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      'base-url': { type: 'string' },
      settings: { type: 'string' },
      storage: { type: 'string' },
      headless: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return void process.stdout.write(`${HELP}\n`);
  const given: Readonly<Record<string, unknown>> = {
    ...(values.settings === undefined ? {} : await readSettingsFile(values.settings, '--settings')),
    ...defined({ model: values.model, baseUrl: values['base-url'] }),
  };
  const { settings, problems } = readSettings((name) => given[name]);
  for (const { name, message } of problems) logger.warn(`${name}: ${message}`);
  const deps = {
    logger,
    settings,
    supervisor: join(PROGRAMS, 'supervisor.cjs'),
    pdfText: join(PROGRAMS, 'pdfText.js'),
    notifyProgram: () =>
      installNotifyProgram(join(PROGRAMS, 'earshot-notify.js')).catch((error: unknown) => {
        logger.error('earshot-notify could not be installed', error);
        return undefined;
      }),
    storage: values.storage ?? join(USER_FOLDER, 'acp'),
    userFolder: USER_FOLDER,
    capture: true,
    model: modelChooser(settings),
  };
  await serve(
    new AcpAgent({
      logger,
      version: VERSION,
      send: (frame) => void process.stdout.write(`${frame}\n`),
      openFolder: async (folder, asks) => {
        const joined = values.headless === true ? undefined : await joinOpenWindow(folder);
        return joined ?? openFolderAgent(deps, folder, asks);
      },
      reopened: (folder) => (values.headless === true ? undefined : untilOpenAgain(folder)),
    }),
  );
}

/** Undefined if no window has the folder open. */
async function joinOpenWindow(folder: string): Promise<Result<AcpFolder> | undefined> {
  const [window] = await findWindows(folder);
  return window && joinWindow({ logger, version: VERSION }, window, folder);
}

/** Sessions of a closed window continue only in a window. */
async function untilOpenAgain(folder: string): Promise<void> {
  while ((await findWindows(folder)).length === 0) await setTimeout(REJOIN_EVERY);
}

/** Resolves once the client has closed the input and nothing runs any more. */
async function serve(agent: AcpAgent): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const lines = new LineSplitter(LONGEST_LINE, {
    onLine: (line) => line !== '' && agent.receive(line ?? ''),
    onTooLong: () => {
      logger.error('a line of the client is too long');
      end();
    },
  });
  process.stdin.on('data', (bytes: Buffer) => lines.write(bytes));
  process.stdin.on('end', end);
  process.stdin.on('error', () => end());
  process.stdout.on('error', () => end());
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => end());
  await ended;
  await agent.close();
}

/** Without any provider the Guide answers, whatever model is named. */
function modelChooser(settings: Settings): (reference: string) => Model | undefined {
  const guide = createGuideModel();
  const known = new KnownModels({ path: join(dirname(PROGRAMS), 'media', 'models.json'), logger });
  const deps = { settings: () => settings, known, key: async (one: Provider) => environmentKey(one, process.env) };
  const configured = createConfiguredModels(deps);
  void noteLists(deps).catch((error: unknown) => logger.error('the models of the providers cannot be noted', error));
  const hasNone = providersIn(settings).length === 0;
  return (reference) => (reference === '' || hasNone ? guide : configured(reference));
}

runProgram(main);
