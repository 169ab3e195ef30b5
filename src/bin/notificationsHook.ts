// The hook that notifies other agents: the JSON of its event on stdin, the agent's form of an answer on stdout. Never fails.
// With --wait: the waiter of an idle Claude Code, whose exit code 2 wakes it.
import { isNodeSupported } from '../node/olderNode.ts';
import { describeError } from '../base/errors.ts';
import { agentProcess } from '../node/agentProcess.ts';
import { isAlive } from '../node/kernelLock.ts';
import { runHook } from '../plugins/hook/runHook.ts';
import { runWaiter } from '../plugins/hook/waitHook.ts';

/** The agent waits for its hooks, at most 5 s as installed. After this time it continues without notifications. */
const MOST_MILLISECONDS = 4500;
const MOST_INPUT = 16 * 1024 * 1024;
const LOOK_EVERY = 5000;
const given = ` ${process.argv.slice(2).join(' ')}`;
const isWaiting = / --wait\b/.test(given);

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

function writeTo(stream: NodeJS.WriteStream): (text: string) => Promise<void> {
  return (text) =>
    new Promise((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
}

async function main(args: string): Promise<number> {
  // Not by `parseArgs`: this module must load on versions of Node that do not have it.
  const [, agent = 'claude-code'] = /(?:^| )--agent[= ]([^ ]+)/.exec(args) ?? [];
  const input = await readInput();
  if (input === undefined) return 0;
  const deps = { agent, version: '1', client: () => agentProcess() };
  if (isWaiting) {
    const parent = Number(agentProcess()?.split(' ')[0] ?? process.ppid);
    const entry = process.env['CLAUDE_CODE_ENTRYPOINT'];
    // The kernel ends it with the agent's session; where it does not, it looks.
    setInterval(() => isAlive(parent) || process.exit(0), LOOK_EVERY).unref();
    return runWaiter(input, { ...deps, entry, write: writeTo(process.stderr), isAgentAlive: () => isAlive(parent) });
  }
  await runHook(input, { ...deps, onlyReports: / --report\b/.test(args), write: writeTo(process.stdout) });
  return 0;
}

/** The agent's tool must never fail because of this hook: every agent ignores a hook that exits with 0. */
function run(): void {
  const end = () => process.exit(0);
  if (!isWaiting) setTimeout(end, MOST_MILLISECONDS);
  process.stdout.on('error', end);
  main(given).then(
    (code) => process.exit(code),
    (error: unknown) => process.stderr.write(`Earshot’s hook failed: ${describeError(error)}\n`, end),
  );
}

// On a version that cannot run it the exit code is 1: agents show the message and go on.
if (isNodeSupported()) run();
