// Writes the standing wake that the user grants with the approval of a call.
import { type EventDraft } from '../../protocol/event.ts';
import { type Ids } from '../ports/ports.ts';
import { type ConversationLog } from './log.ts';

export interface WakeGrant {
  /** `timer`, `condition`, `lines`, … */
  readonly source: string;
  readonly name: string;
  /** How many notifications may wake the model. */
  readonly most: number;
  /** Milliseconds since 1970: what happens later does not wake. */
  readonly until: number;
  /** The call that the user approved. */
  readonly call: string;
}

/**
 * The event of a standing wake, and its id for `Notification.grant`. Append it before the first notification that uses
 * it. `by` is who approved the call; `policy`: a setting or a rule of the user.
 */
export function draftGrant(
  log: ConversationLog,
  ids: Ids,
  grant: WakeGrant,
): { readonly id: string; readonly draft: EventDraft } {
  const { source, name, most, until, call } = grant;
  const id = ids.ulid();
  const approval = log.state.turn.unanswered.find(({ request }) => request.id === call)?.approval;
  return {
    id,
    draft: {
      type: 'wake_granted',
      ...{ id, source, name, most },
      until: new Date(until).toISOString(),
      tool_call_id: call,
      by: approval?.by ?? 'policy',
    },
  };
}
