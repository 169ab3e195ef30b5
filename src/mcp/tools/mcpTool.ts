// Makes a tool of an MCP server available to the model.
import { type Failure, failed, succeeded } from '../../base/errors.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type Tool, type ToolContext, type ToolOutcome } from '../../core/ports/ports.ts';
import { type McpServer } from '../server.ts';
import { type CallEnd, type McpTool } from '../session/sessionPort.ts';
import { followTask, refuse, resultOutcome } from './followTask.ts';
import { describedAs, describeHints } from './toolSchema.ts';

type Arguments = Readonly<Record<string, unknown>>;

export interface McpToolOptions {
  /** The name under which the model calls it. */
  readonly name: string;
  readonly server: McpServer;
  readonly tool: McpTool;
  /** Whether the user trusts this server's hints: then the rules for reads apply to tools that only read. */
  readonly trustsHints: boolean;
}

export function createMcpTool({ name, server, tool, trustsHints }: McpToolOptions): Tool<Arguments> {
  const { annotations: hints } = tool;
  const onlyReads = hints?.readOnlyHint === true;
  return {
    description: describedAs(name, tool),
    // A server may run anything. Its own hints do not change that unless the user trusts them.
    effect: onlyReads && trustsHints ? 'read' : 'execute',
    emits: tool.mayBeTask ? ['stopped', 'failed', 'waiting', 'lost', 'running'] : [],
    traits: { server: server.name, invalidatesReports: true },
    parse: (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return failed('bad_arguments', 'arguments: an object is expected.', 'Call it again with this corrected.');
      }
      return isDeeperThan(value, MOST_DEPTH)
        ? failed('too_deep', `arguments: ${TOO_DEEP}.`)
        : succeeded(value as Arguments);
    },
    touches: () => ({
      server: {
        name: server.name,
        identity: server.configured.identity,
        tool: tool.name,
        note: describeHints(server.name, hints),
        ...(!onlyReads && hints?.destructiveHint === true && { alone: true as const }),
      },
    }),
    whyNot: () => whyUnavailable(server, name),
    run: (args, context) => runMcpTool({ name, server, tool }, args, context),
  };
}

/** Makes a call to a lost server fail before the user is asked for approval. */
function whyUnavailable({ name: server, state, problem }: McpServer, name: string): Failure | undefined {
  if (state !== 'lost' && state !== 'failed' && state !== 'sign_in') return undefined;
  const why = problem === undefined ? '' : `: ${problem}`;
  const nextStep =
    state === 'sign_in'
      ? 'The user has to sign in to it in the MCP Servers view.'
      : state === 'lost'
        ? 'Earshot tries to connect again; you are notified when it succeeds.'
        : 'The user can restart it in the MCP Servers view.';
  const message = `${name} was not run: the MCP server “${server}” is not connected${why}.`;
  return { code: state === 'sign_in' ? 'sign_in' : 'no_server', message, nextStep };
}

async function runMcpTool(
  { name, server, tool }: Pick<McpToolOptions, 'name' | 'server' | 'tool'>,
  args: Arguments,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { signal, progress, ask } = context;
  let ended = 0;
  const call = () => {
    // A server that was restarted has another process.
    const pid = server.session?.pid;
    if (pid !== undefined) context.observe({ pid, since: Date.now(), ended: () => (ended === 0 ? undefined : ended) });
    return server.call(tool.name, args, { signal, progress, ask });
  };
  try {
    let end = await call();
    if (end.type === 'lost' && mayRepeat(tool) && !signal.aborted) {
      progress('The answer was lost. The tool may be repeated, so it is called again once the server is connected.\n');
      if (await server.reconnected(signal)) end = await call();
    }
    if (end.type === 'task') return await followTask({ tool: name, server, reference: end.reference }, context);
    return toToolOutcome(end, name, server);
  } finally {
    ended = Date.now();
  }
}

function mayRepeat({ annotations }: McpTool): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

function toToolOutcome(
  end: Exclude<CallEnd, { type: 'task' }>,
  name: string,
  { name: server }: McpServer,
): ToolOutcome {
  switch (end.type) {
    case 'result':
      return resultOutcome(end.content);
    case 'refused':
      return refuse('server_error', `${name} failed: the MCP server “${server}” says: ${end.message}`);
    case 'slow':
      return refuse(
        'slow',
        `${name} did not answer within ${end.seconds} s and was cancelled; it may have run. The MCP server “${server}” still answers.`,
      );
    case 'lost':
      return refuse(
        'interrupted',
        `Interrupted; may have run. The answer of ${name} was lost: ${end.message}. It was not repeated. Check what it did before you call it again.`,
      );
    case 'sign_in':
      return refuse(
        'sign_in',
        `${name} was not run: the MCP server “${server}” wants the user to sign in (${end.message}). The user can do that in the MCP Servers view.`,
      );
    case 'cancelled':
      return refuse('cancelled', 'Cancelled by the user.');
  }
}
