// An MCP server on stdio that lets another agent join the hub of a folder: node dist/hub-mcp.js --dir FOLDER.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { useForwardedSocket } from '../hub/client/joinHub.ts';
import { watchClientName } from '../hub/mcp/clientName.ts';
import { Mailbox } from '../hub/mcp/mailbox.ts';
import { createHubMcpServer } from '../hub/mcp/mcpServer.ts';
import { inputEnded, runProgram, stderrLogger } from '../node/program.ts';
import { realFileSystem } from '../node/files/fileSystem.ts';
import { hubFolder } from '../node/hubFolder.ts';
import { tryKernelLock } from '../node/kernelLock.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { HUB_NAME } from '../protocol/hub.ts';
import { loadSqlite } from '../node/sqlite.ts';

const HELP = `node dist/hub-mcp.js [--dir FOLDER] [--name NAME] [--role ROLE] [--all]

  --dir     the workspace folder whose hub to join (default: the current folder)
  --name    the agent's name (default: what the MCP client calls itself)
  --role    a role under which others can write to it
  --all     receive every message on the hub, not only those for this agent

node dist/hub-mcp.js [--dir FOLDER] --where
  prints the folder with the hub's socket, hub.sock, and ends

node dist/hub-mcp.js [--dir FOLDER] --socket PATH
  makes all agents of the folder join the hub behind this socket, such as one that SSH forwards, and ends;
  remove the file that it prints to return to a hub on this machine`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      all: { type: 'boolean' },
      where: { type: 'boolean' },
      socket: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const dir = values.dir ?? process.cwd();
  if (values.help === true || values.where === true || values.socket !== undefined) {
    process.stdout.write(`${await answer(values, dir)}\n`);
    return;
  }
  for (const option of ['name', 'role'] as const) {
    const given = values[option];
    if (given !== undefined && !HUB_NAME.test(given)) throw new Error(`--${option}: use 1 to 32 of a-z, 0-9, _ and -.`);
  }
  const report = stderrLogger.error;
  const mailbox = new Mailbox({
    files: realFileSystem,
    clock: realClock,
    tryLock: tryKernelLock,
    sqlite: loadSqlite(),
    workspaceFolder: dir,
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
  await inputEnded();
  await served.close();
  await mailbox.close();
}

/** What to print for the options that end the program at once. */
async function answer(
  { help, socket }: { readonly help?: boolean | undefined; readonly socket?: string | undefined },
  dir: string,
): Promise<string> {
  if (help === true) return HELP;
  const folder = await hubFolder(dir);
  return socket === undefined ? folder : useForwardedSocket(realFileSystem, folder, resolve(socket));
}

runProgram(main);
