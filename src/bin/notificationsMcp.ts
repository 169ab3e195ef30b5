// An MCP server on stdio that notifies an agent of events in a folder: node dist/notifications-mcp.js --dir FOLDER.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { ignore } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import { watchClientName } from '../hub/mcp/clientName.ts';
import { inputEnded, runProgram } from '../node/program.ts';
import { agentProcess } from '../node/agentProcess.ts';
import { agentNameOf } from '../plugins/notificationsMcp/agentName.ts';
import { createNotificationsServer } from '../plugins/notificationsMcp/notificationsServer.ts';
import { WindowLink } from '../plugins/notificationsMcp/windowLink.ts';

const HELP = `node dist/notifications-mcp.js [--dir FOLDER] [--agent NAME]

  --dir     the folder that the agent works in, or one in the folder that VS Code has open (default: the current folder)
  --agent   the agent's name (default: what the MCP client calls itself)`;
const NAME = /^[a-z0-9_-]{1,32}$/;
const VERSION = '1';

/** Runs a function once the answer to a request was written. */
class ObservedTransport extends StdioServerTransport {
  readonly #after = new Map<string | number, () => Promise<void>>();

  afterAnswer(request: string | number, then: () => Promise<void>): void {
    this.#after.set(request, then);
  }

  override async send(message: Parameters<StdioServerTransport['send']>[0]): Promise<void> {
    await super.send(message);
    if (!('id' in message) || message.id === undefined || 'method' in message) return;
    const then = this.#after.get(message.id);
    this.#after.delete(message.id);
    await then?.().catch(ignore);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { dir: { type: 'string' }, agent: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const { agent: given } = values;
  if (given !== undefined && !NAME.test(given)) throw new Error('--agent: use 1 to 32 of a-z, 0-9, _ and -.');
  const folder = resolve(values.dir ?? process.cwd());
  const { input, clientName } = watchClientName(process.stdin);
  const agent = () => given ?? agentNameOf(clientName());
  const link = new WindowLink({ folder, version: VERSION, client: agentProcess(), agent });
  const transport = new ObservedTransport(input, process.stdout);
  const afterAnswer = transport.afterAnswer.bind(transport);
  const served = serveStdio(({ era }) => createNotificationsServer({ link, version: VERSION, era, afterAnswer }), {
    transport,
    onerror: (error) => void process.stderr.write(`MCP: ${describeError(error)}\n`),
  });
  await inputEnded();
  await served.close();
  link.close();
}

runProgram(main);
