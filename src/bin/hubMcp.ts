// An MCP server on stdio by which another agent joins the hub of a folder: node dist/hub-mcp.js --dir FOLDER.
import type * as sqliteModule from 'node:sqlite';
import { parseArgs } from 'node:util';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { describeError } from '../base/errors.ts';
import { watchClientName } from '../hub/mcp/clientName.ts';
import { Mailbox } from '../hub/mcp/mailbox.ts';
import { createHubMcpServer } from '../hub/mcp/mcpServer.ts';
import { realFileSystem } from '../node/fileSystem.ts';
import { tryKernelLock } from '../node/kernelLock.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { HUB_NAME } from '../protocol/hub.ts';

const HELP = `node dist/hub-mcp.js [--dir FOLDER] [--name NAME] [--role ROLE] [--all]

  --dir   the workspace folder whose hub to join (default: the current folder)
  --name  the agent's name (default: what the MCP client calls itself)
  --role  a role under which others can write to it
  --all   receive every message on the hub, not only those for this agent`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      all: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  for (const option of ['name', 'role'] as const) {
    const given = values[option];
    if (given !== undefined && !HUB_NAME.test(given)) throw new Error(`--${option}: use 1 to 32 of a-z, 0-9, _ and -.`);
  }
  const report = (message: string, error?: unknown) =>
    void process.stderr.write(`${message}${error === undefined ? '' : `: ${describeError(error)}`}\n`);
  const mailbox = new Mailbox({
    files: realFileSystem,
    clock: realClock,
    tryLock: tryKernelLock,
    sqlite: loadSqlite(),
    workspaceFolder: values.dir ?? process.cwd(),
    version: '1',
    port: 0,
    allowedOrigins: [],
    role: values.role ?? '',
    all: values.all === true,
    ulid: () => realIds.ulid(),
    report,
  });
  if (values.name !== undefined) await mailbox.open(values.name);
  const { input, clientName } = watchClientName(process.stdin);
  const served = serveStdio(() => createHubMcpServer({ mailbox, name: values.name, clientName, version: '1' }), {
    transport: new StdioServerTransport(input, process.stdout),
    onerror: (error) => report('MCP', error),
  });
  await ended();
  await served.close();
  await mailbox.close();
}

/** The client closes our input, or ends us. */
function ended(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

function loadSqlite(): typeof sqliteModule | undefined {
  const ask = process.getBuiltinModule as typeof process.getBuiltinModule | undefined;
  return ask?.('node:sqlite');
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${describeError(error)}\n`);
    process.exit(1);
  },
);
