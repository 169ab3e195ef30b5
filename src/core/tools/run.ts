// Decides the life of one tool call: validate → permit → execute → bound.
import { describeError, describeFailure } from '../../base/errors.ts';
import { type EventDraft, type EventOf } from '../../protocol/event.ts';
import { permit } from '../agent/approvals.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { wholeCharacters } from '../notify/queue.ts';
import { type Frontend, type Log, type Snapshots, type ToolOutcome, type Workspace } from '../ports.ts';
import { type ToolRegistry } from './registry.ts';

export interface ToolRunDeps {
  readonly log: ConversationLog;
  readonly registry: ToolRegistry;
  readonly workspace: Workspace;
  readonly frontend: Frontend;
  readonly snapshots: Snapshots;
  readonly output: Log;
}

/** The response without what it may carry; that is decided at the moment it is appended. */
export type ToolResponse = Omit<Extract<EventDraft, { type: 'tool_call_response' }>, 'notifications'>;

export const OUTPUT_LIMIT = 30_000;

/** Never throws: every end of a call is a response the model can read. */
export async function runTool(
  deps: ToolRunDeps,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<ToolResponse> {
  const outcome = await execute(deps, request, signal);
  // The bytes are on disk before the event that names them.
  const seen = await Promise.all(
    (outcome.seen ?? []).map(async ({ file, bytes }) => ({ path: file.path, hash: await deps.snapshots.put(bytes) })),
  );
  return {
    type: 'tool_call_response',
    id: request.id,
    content: bound(mask(outcome.content, deps.log.state.turn.key)),
    is_error: outcome.isError,
    ...(seen.length > 0 && { seen }),
  };
}

async function execute(
  deps: ToolRunDeps,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const tool = deps.registry.get(request.name);
  if (tool === undefined) {
    return refusal(`There is no tool ${request.name}. The tools are: ${deps.registry.names.join(', ')}.`);
  }
  if (request.arguments_text !== undefined) {
    return refusal(`The arguments of ${request.name} are not a JSON object. Call it again with valid JSON.`);
  }
  const parsed = tool.parse(request.arguments);
  if (!parsed.ok) return refusal(`${request.name} was not run: ${describeFailure(parsed.failure)}`);
  const permission = await permit(deps, tool, request, signal);
  if (permission.type === 'refused') return refusal(permission.reason);
  const args = permission.arguments === undefined ? parsed : tool.parse(permission.arguments);
  if (!args.ok) return refusal(`${request.name} was not run: ${describeFailure(args.failure)}`);
  if (signal.aborted) return refusal('Cancelled by the user.');
  deps.frontend.render(deps.log.id, { type: 'tool_started', call: request.id });
  try {
    return await tool.run(args.value, {
      signal,
      workspace: deps.workspace,
      progress: (text) => deps.frontend.render(deps.log.id, { type: 'tool_output', call: request.id, text }),
    });
  } catch (error) {
    deps.output.error(`the tool ${request.name} failed unexpectedly`, error);
    return refusal(`${request.name} failed unexpectedly: ${describeError(error)}`);
  }
}

function refusal(content: string): ToolOutcome {
  return { content, isError: true };
}

/** The key that proves our blocks never reaches the model by another way. */
function mask(text: string, key: string): string {
  return key === '' ? text : text.replaceAll(key, '•••');
}

/** Keeps the beginning and the end, where the news usually is. */
export function bound(text: string): string {
  if (text.length <= OUTPUT_LIMIT) return text;
  const half = OUTPUT_LIMIT / 2;
  const left = text.length - OUTPUT_LIMIT;
  return `${wholeCharacters(text, half)}\n… ${left} characters left out …\n${text.slice(-half)}`;
}
