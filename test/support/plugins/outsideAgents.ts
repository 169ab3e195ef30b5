// Real outside agents: the MCP server driven by the official client, and the hook with Claude's JSON as its input.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { agentProcess } from '../../../src/node/agentProcess.ts';
import { runHook } from '../../../src/plugins/hook/runHook.ts';
import { runWaiter } from '../../../src/plugins/hook/waitHook.ts';
import { compileCache } from '../compileCache.ts';
import { atTestEnd } from '../endings.ts';
import { isFull } from '../runs.ts';

const bin = resolve(import.meta.dirname, '../../../src/bin');

export interface McpAgent {
  readonly client: Client;
  readonly pid: number;
  /** Resolves with the text of the result, also if the call was refused. */
  call(tool: string, args?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface AgentPlace {
  readonly home: string;
  readonly folder: string;
  /** Runs the built programs in this folder with this Node, instead of the sources with this process's. */
  readonly built?: { readonly node: string; readonly folder: string };
}

function programOf({ built }: Pick<AgentPlace, 'built'>, source: string, name: string): [string, string[]] {
  return built === undefined
    ? [process.execPath, ['--no-warnings', `${bin}/${source}.ts`]]
    : [built.node, [`${built.folder}/${name}.js`]];
}

export async function startMcpAgent(
  { home, folder, built }: AgentPlace,
  options: { readonly client?: string; readonly modern?: boolean } = {},
): Promise<McpAgent> {
  const [command, args] = programOf({ ...(built && { built }) }, 'notificationsMcp', 'notifications-mcp');
  const transport = new StdioClientTransport({
    command,
    args,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, EARSHOT_HOME: home, ...compileCache },
  });
  const name = options.client ?? 'claude-code';
  const negotiation = options.modern === true ? { versionNegotiation: { mode: 'auto' as const } } : {};
  const client = new Client({ name, version: '1' }, negotiation);
  await client.connect(transport);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= client.close());
  atTestEnd(close);
  return {
    client,
    get pid() {
      return transport.pid ?? Number.NaN;
    },
    call: async (tool, args = {}, signal) => {
      const result = await client.callTool({ name: tool, arguments: args }, signal ? { signal } : {});
      const [part] = result.content;
      return part?.type === 'text' ? part.text : '';
    },
    close,
  };
}

export interface HookEnd {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs the hook once with this input on stdin. */
export function runRawHook(place: AgentPlace, input: string | Uint8Array, killAfter?: Promise<unknown>) {
  const { home } = place;
  return new Promise<HookEnd>((done, fail) => {
    const [command, args] = programOf(place, 'notificationsHook', 'notifications-hook');
    // What earshot-ears gets of the environment when the hook starts it.
    const { PATH = '', GH_CONFIG_DIR } = process.env;
    const env = { PATH, HOME: home, EARSHOT_HOME: home, ...compileCache };
    const child = spawn(command, args, { env: { ...env, ...(GH_CONFIG_DIR !== undefined && { GH_CONFIG_DIR }) } });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    child.on('error', fail);
    child.on('close', (code) => done({ code, output, errors }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    killAfter?.then(() => child.kill('SIGKILL'), fail);
  });
}

/**
 * Runs the hook in this process, which has the same parent as the program would have. Used by `npm test` because it is
 * faster.
 */
async function runHookHere({ home }: AgentPlace, input: string): Promise<HookEnd> {
  let output = '';
  await runHook(input, {
    ...{ agent: 'claude-code', version: '1', home },
    client: () => agentProcess(process.pid),
    write: async (text) => {
      output += text;
    },
  }).catch(() => undefined);
  return { code: 0, output, errors: '' };
}

export interface ToolUse {
  readonly tool?: string;
  readonly input?: object;
  readonly session?: string;
  readonly event?: string;
  readonly more?: object;
  /** Who watches the folder may be killed meanwhile: the hook says so on stderr and exits with 0, which agents ignore. */
  readonly mayComplain?: boolean;
}

/**
 * Runs the hook as Claude does after a tool was used. Resolves with the additional context; rejects if the hook fails.
 */
export async function useTool(place: AgentPlace, use: ToolUse = {}): Promise<string> {
  const { tool = 'Bash', input = { command: 'ls' }, session = 's1', event = 'PostToolUse' } = use;
  const given = {
    session_id: session,
    transcript_path: '/nowhere',
    cwd: place.folder,
    permission_mode: 'default',
    hook_event_name: event,
    tool_name: tool,
    tool_input: input,
    tool_response: {},
    tool_use_id: 'toolu_1',
    ...use.more,
  };
  const text = JSON.stringify(given);
  const { code, output, errors } = await (isFull ? runRawHook(place, text) : runHookHere(place, text));
  if (code !== 0 || (errors !== '' && use.mayComplain !== true))
    throw new Error(`the hook ended with ${code}: ${errors}`);
  if (output === '') return '';
  const { hookSpecificOutput: answer } = JSON.parse(output) as {
    hookSpecificOutput: { hookEventName: string; additionalContext: string };
  };
  if (answer.hookEventName !== event) throw new Error(`another event: ${answer.hookEventName}`);
  return answer.additionalContext;
}

/** Claude is idle: ends with 2 once it is woken. */
export function startWaiter({ folder, home }: AgentPlace) {
  let text = '';
  const write = async (part: string) => void (text += part);
  const names = { version: '1', home, client: () => agentProcess(process.pid) };
  const deps = { ...names, agent: 'claude-code', entry: 'cli', write, isAgentAlive: () => true };
  const code = runWaiter(JSON.stringify({ session_id: 's1', cwd: folder, hook_event_name: 'Stop' }), deps);
  return { code, text: () => text };
}
