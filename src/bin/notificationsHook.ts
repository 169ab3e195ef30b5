// The hook that notifies other agents: Claude's JSON on stdin, `additionalContext` on stdout. Never fails.
import { isNodeSupported } from '../node/olderNode.ts';
import { describeError } from '../base/errors.ts';
import { agentProcess } from '../node/agentProcess.ts';
import { runHook } from '../plugins/hook/runHook.ts';

/** The agent waits for its hooks, at most 5 s as installed. After this time it continues without notifications. */
const MOST_MILLISECONDS = 4500;
const MOST_INPUT = 16 * 1024 * 1024;

/** Undefined: the input is too long. */
async function readInput(): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST_INPUT) chunks.push(chunk);
    else chunks.length = 0;
  }
  return length > MOST_INPUT ? undefined : Buffer.concat(chunks).toString('utf8');
}

function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

async function main(): Promise<void> {
  // Not by `parseArgs`: this module must load on versions of Node that do not have it.
  const [, agent = 'claude-code'] = /(?:^| )--agent[= ]([^ ]+)/.exec(process.argv.slice(2).join(' ')) ?? [];
  const input = await readInput();
  if (input !== undefined) await runHook(input, { agent, version: '1', client: () => agentProcess(), write });
}

/** The agent's tool must never fail because of this hook: every agent ignores a hook that exits with 0. */
function run(): void {
  const end = () => process.exit(0);
  setTimeout(end, MOST_MILLISECONDS);
  process.stdout.on('error', end);
  main().then(end, (error: unknown) => process.stderr.write(`Earshot’s hook failed: ${describeError(error)}\n`, end));
}

// On a version that cannot run it the exit code is 1: agents show the message and go on.
if (isNodeSupported()) run();
