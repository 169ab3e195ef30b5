// Writes a subscription to an event of an MCP server, and the user's grant that it may wake the model.
import { defined } from '../../../base/json/defined.ts';
import { EVENT_WAKE_DAYS, MOST_EVENT_WAKES } from '../../../protocol/lines/eventSubscriptions.ts';
import { type WantedEvents } from '../../ports/mcp.ts';
import { type Ports } from '../../ports/ports.ts';
import { type DueIndex } from '../../ports/storage.ts';
import { draftGrant } from '../grants.ts';
import { type ConversationLog } from '../log.ts';

const DAY_MILLISECONDS = 24 * 3600_000;

export interface SubscribeDeps extends Pick<Ports, 'ids' | 'clock'> {
  readonly log: ConversationLog;
  /** Absent for the log of an outside agent, which is no conversation to open. */
  readonly due: DueIndex | undefined;
}

/** Resolves to its name, once it is on disk. `call`: what the user has approved; with it, events wake the model. */
export async function subscribeEvents(
  { log, ids, clock, due }: SubscribeDeps,
  { server, identity, event, mode, cursor, arguments: args, setting, settings }: WantedEvents,
  call: string | undefined,
): Promise<string> {
  const name = nameFor(log, { server, event, arguments: args });
  const more = { ...(args !== undefined && { arguments: { ...args } }), ...defined({ setting, settings }) };
  const from = cursor === null ? {} : { cursor };
  const draft = { type: 'events_subscribed' as const, name, server, identity, event, mode, ...from, ...more };
  const before = log.state.events.all.get(name)?.grant;
  const revoked = { type: 'wake_revoked' as const, id: before ?? '', reason: 'subscribed again' };
  const first = before === undefined ? [] : [{ draft: revoked }];
  if (call === undefined) {
    await log.appendTogether([...first, { draft }]).onDisk;
    return name;
  }
  const until = clock.now() + EVENT_WAKE_DAYS * DAY_MILLISECONDS;
  const grant = draftGrant(log, ids, { source: 'events', name, most: MOST_EVENT_WAKES, until, call });
  // Found by the next window without reading logs, so that its events are followed.
  await due?.mark(log.id);
  await log.appendTogether([...first, { draft: grant.draft }, { draft: { ...draft, grant: grant.id } }]).onDisk;
  return name;
}

/** `github/issue.updated`; with other arguments than an existing one, `github/issue.updated#2`. */
function nameFor(log: ConversationLog, { server, event, arguments: args }: Partial<WantedEvents>): string {
  const { all } = log.state.events;
  for (let number = 1; ; number += 1) {
    const name = `${server}/${event}${number === 1 ? '' : `#${number}`}`;
    const known = all.get(name);
    if (known === undefined || JSON.stringify(known.arguments ?? {}) === JSON.stringify(args ?? {})) return name;
  }
}
