// earshot-ears: gives other agents the notifications of a folder while no window of VS Code has it open, and installs
// itself for them.
import { appendFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ignore } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { onSignal, PROGRAMS, runProgram, stderrLogger } from '../node/program.ts';
import { outsideFolder, socketHome } from '../node/hubFolder.ts';
import { loadSqlite } from '../node/sqlite.ts';
import { AGENT_NAMES } from '../plugins/hook/hookTargets.ts';
import { openEars } from './ears/ears.ts';
import { EarsSettings } from './ears/earsSettings.ts';
import { install, remove, showStatus, stop } from './ears/commands.ts';

const HELP = `earshot-ears install AGENT… [--folder FOLDER]   installs the hook of these agents, for all folders or for one
earshot-ears remove AGENT… [--folder FOLDER]    removes it again; other entries of the agent's settings stay
earshot-ears status [--dir FOLDER]              says what is installed and who watches the folder
earshot-ears stop [--dir FOLDER]                ends the one that watches the folder; the next hook starts it again
earshot-ears serve --dir FOLDER                 watches the folder; hooks start this by themselves

Agents: ${Object.keys(AGENT_NAMES).join(', ')}. Settings, such as {"earshot.scripts.wake": true}, are read from
~/.earshot/settings.json.`;
const MOST_LOG = 1_000_000;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { dir: { type: 'string' }, folder: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  const [command, ...agents] = positionals;
  // The locks of a watching process, which the kernel frees when it is killed, need SQLite.
  if ((command === 'install' || command === 'serve') && loadSqlite() === undefined) {
    process.stderr.write(`earshot-ears needs Node 22.13 or later; this is Node ${process.versions.node}.\n`);
    return 1;
  }
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  if (values.help === true || command === undefined) {
    print(HELP);
    return command === undefined && values.help !== true ? 2 : 0;
  }
  const folder = values.folder === undefined ? undefined : resolve(values.folder);
  const deps = { home: homedir(), programs: PROGRAMS, folder, print, logger: stderrLogger };
  switch (command) {
    case 'install':
      return install(deps, agents);
    case 'remove':
      return remove(deps, agents);
    case 'status':
      return showStatus(deps, resolve(values.dir ?? '.'));
    case 'stop':
      return stop(deps, resolve(values.dir ?? '.'));
    case 'serve':
      return serve(resolve(values.dir ?? '.'));
    default:
      throw new Error(`There is no command “${command}”.\n\n${HELP}`);
  }
}

/** Resolves once it has ended: another one or a window watches, nobody listens any more, or a signal ended it. */
async function serve(folder: string): Promise<number> {
  const logger = await fileLogger(folder);
  const settings = new EarsSettings(join(socketHome(), '.earshot', 'settings.json'), logger);
  await settings.start();
  const ears = await openEars({ folder, logger, settings });
  if (ears === undefined) return 0;
  onSignal(() => void ears.close().catch(ignore));
  await ears.ended;
  settings.dispose();
  return 0;
}

/** It has no console: what it reports since it started is in a file. */
async function fileLogger(folder: string): Promise<Logger> {
  const path = join(await outsideFolder(folder), 'ears.log');
  let length = 0;
  const write = (text: string) => {
    const line = `${new Date().toISOString()} ${text}\n`;
    if (length + line.length > MOST_LOG) return;
    try {
      // The folder is made with the first start.
      if (length === 0) writeFileSync(path, line, { mode: 0o600 });
      else appendFileSync(path, line);
      length += line.length;
    } catch {
      // A full disk must not end it.
    }
  };
  return {
    debug: () => undefined,
    info: write,
    warn: write,
    error: (message, error) => write(error === undefined ? message : `${message}: ${describeError(error)}`),
  };
}

runProgram(main, 2);
