// Says why an atom waits for a notification that can never come, with what to name instead.
import { shortList } from '../../base/text.ts';
import { describedKind, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { type Atom } from '../../protocol/wakes.ts';
import { isFire } from '../conversation/wakes.ts';
import { type EventSubscriptions } from '../ports/mcp.ts';

const MOST_NAMED = 12;
/** The beginning of the sources of plugins, whose kinds are their own. */
const OF_PLUGINS = 'plugin.';

/** Undefined: such a notification may come, or the atom is about something else. */
export function whyNotAwaited(atom: Atom, { all }: Pick<EventSubscriptions, 'all'>): string | undefined {
  if ('event' in atom) {
    const known = [...all.values()].flatMap(({ server, event }) => [server, `${server}/${event}`]);
    if (known.includes(atom.event)) return undefined;
    const there = known.length === 0 ? '' : ` You get: ${shortList([...new Set(known)], MOST_NAMED)}.`;
    return `event: nothing is subscribed from “${atom.event}”.${there} Call subscribe_events first.`;
  }
  if (!('notified' in atom)) return undefined;
  const { notified } = atom;
  if (isFire(notified))
    return 'notified: timers and conditions do not wait for each other. Use all or any in one of them.';
  const dot = notified.lastIndexOf('.');
  const [source, name] = [notified.slice(0, Math.max(0, dot)), notified.slice(dot + 1)];
  if (source.startsWith(OF_PLUGINS) || describedKind({ source, name }) !== undefined) return undefined;
  const ofSource = SHIPPED_KINDS.filter((kind) => kind.startsWith(`${source || notified}.`));
  const sources = [...new Set(SHIPPED_KINDS.map((kind) => kind.slice(0, kind.indexOf('.'))))];
  const there =
    ofSource.length > 0 ? `There are: ${ofSource.join(', ')}.` : `It begins with one of: ${sources.join(', ')}.`;
  return `notified: there is no kind of notification “${notified}”. ${there}`;
}
