// The hook that notifies other agents: Claude's JSON on stdin, `additionalContext` on stdout. Never fails.
import { parseArgs } from 'node:util';
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
  const { values } = parseArgs({ options: { agent: { type: 'string' } }, strict: false });
  const agent = typeof values['agent'] === 'string' ? values['agent'] : 'claude-code';
  const input = await readInput();
  if (input !== undefined) await runHook(input, { agent, version: '1', client: () => agentProcess(), write });
}

// The agent's tool must never fail because of this hook.
const end = () => process.exit(0);
setTimeout(end, MOST_MILLISECONDS);
process.stdout.on('error', end);
main().then(end, end);
