// The hook by which other agents get notifications: Claude's JSON on stdin, `additionalContext` on stdout. Never fails.
import { parseArgs } from 'node:util';
import { agentProcess } from '../node/agentProcess.ts';
import { runHook } from '../plugins/hook/runHook.ts';

/** The agent waits for it: after that its tool goes on without notifications. */
const MOST_MILLISECONDS = 3000;
const MOST_INPUT = 16 * 1024 * 1024;

/** Undefined: it is too long. */
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

// Whatever happens, the agent's tool must not fail because of it.
const end = () => process.exit(0);
setTimeout(end, MOST_MILLISECONDS);
process.stdout.on('error', end);
main().then(end, end);
