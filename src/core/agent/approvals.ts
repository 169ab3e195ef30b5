// Decides whether a tool call may run: by its effect, by trust, and by the answer of a person or who acts for one.
import { type EventOf } from '../../protocol/event.ts';
import { type Tool } from '../ports.ts';
import { type ToolRunDeps } from '../tools/run.ts';

export type Permission =
  | { readonly type: 'permitted'; readonly arguments?: Readonly<Record<string, unknown>> }
  | { readonly type: 'refused'; readonly reason: string };

/** Reading needs no consent; everything else is asked. A notification is never an answer. */
export function needsApproval(tool: Tool): boolean {
  return tool.effect !== 'read';
}

/** Resolves once the answer is in the log. An answer that is there already (after a restart) is not asked for again. */
export async function permit(
  deps: ToolRunDeps,
  tool: Tool,
  request: EventOf<'tool_call_request'>,
  signal: AbortSignal,
): Promise<Permission> {
  if (!needsApproval(tool)) return { type: 'permitted' };
  if (!deps.workspace.trusted) {
    return {
      type: 'refused',
      reason: `${request.name} was not run: the workspace is not trusted, so Earshot only reads. The user can trust it.`,
    };
  }
  const { id, name, arguments: args } = request;
  const answer = await deps.frontend.approve(
    { conversation: deps.log.id, call: { id, name, arguments: args } },
    signal,
  );
  await deps.log.append({
    type: 'approval',
    tool_call_id: id,
    action: answer.action,
    by: answer.by,
    ...(answer.reason !== undefined && { reason: answer.reason }),
    ...(answer.arguments !== undefined && { arguments: { ...answer.arguments } }),
  });
  if (answer.action === 'reject') {
    const reason = answer.reason === undefined || answer.reason === '' ? 'no reason given' : answer.reason;
    return { type: 'refused', reason: `The user rejected this call: ${reason}.` };
  }
  return answer.arguments === undefined ? { type: 'permitted' } : { type: 'permitted', arguments: answer.arguments };
}
