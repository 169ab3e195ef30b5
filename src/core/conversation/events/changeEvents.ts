// Ends, pauses or moves a subscription to an event of an MCP server.
import { type EventsChange } from '../../ports/mcp.ts';
import { type ConversationLog } from '../log.ts';

/** The standing wake of a subscription ends with it. */
export async function changeEvents(log: ConversationLog, change: EventsChange): Promise<void> {
  const known = log.state.events.all.get(change.name);
  if (known === undefined) return;
  const { grant: id } = known;
  const ends = change.type === 'events_unsubscribed' && id !== undefined;
  const revoked = { type: 'wake_revoked' as const, id: id ?? '', reason: 'unsubscribed' };
  await log.appendTogether([{ draft: change }, ...(ends ? [{ draft: revoked }] : [])]).onDisk;
}
