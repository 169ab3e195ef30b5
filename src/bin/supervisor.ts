// The supervisor program: runs one command, survives the editor and exits with the command.
import '../node/olderNode.ts';
import { createSupervisor } from '../node/supervision/supervisor.ts';
import { OWN_NODE_OPTIONS } from '../node/supervision/supervisorFiles.ts';

/** Milliseconds after which the process exits even if its owner has not read everything. */
const EXIT_AFTER = 3000;

const [folder = ''] = process.argv.slice(2);

async function main(): Promise<void> {
  const { ELECTRON_RUN_AS_NODE: _ours, [OWN_NODE_OPTIONS]: options, ...rest } = process.env;
  const env = options === undefined ? rest : { ...rest, NODE_OPTIONS: options };
  // The owner may be gone before it reads this.
  process.stdout.on('error', () => undefined);
  const supervisor = await createSupervisor({ folder, env, ready: () => process.stdout.write('ready\n') });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => supervisor.stop(signal));
  await supervisor.run();
  setTimeout(() => process.exit(0), EXIT_AFTER).unref();
}

function fail(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

void main().catch(fail);
