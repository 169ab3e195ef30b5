// The local verbs about what became of notifications, computed from the logs when somebody looks.
import { type Result, succeeded } from '../../../base/errors.ts';
import { type KindUse } from '../../../protocol/page/overviewView.ts';
import { NotificationUse, sumUses } from '../../frontend/notificationUse.ts';
import { Timeline } from '../../frontend/timeline.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { LogReads } from './logReads.ts';

const MOST_KEPT = 200;
/** Items of a timeline in one part. */
const MOST_ITEMS = 2000;

/** For all clients of a window. */
export function createNotificationVerbs(
  ports: LocalPorts,
): Pick<LocalVerbs, 'read_notification_use' | 'read_timeline'> {
  const uses = new LogReads(ports, () => new NotificationUse(), MOST_KEPT);
  const timelines = new LogReads(ports, () => new Timeline());
  /** By conversation, with the length of its log. */
  const known = new Map<string, { readonly size: number; readonly kinds: readonly KindUse[] }>();

  async function readAll(): Promise<Result<{ conversations: number; data: readonly KindUse[] }>> {
    const sizes = await ports.store.sizes();
    if (!sizes.ok) return sizes;
    for (const id of known.keys()) if (!sizes.value.has(id)) known.delete(id);
    for (const [id, size] of sizes.value) {
      if (known.get(id)?.size === size) continue;
      const use = await uses.read(id);
      // One that cannot be read does not hide the others.
      if (use.ok) known.set(id, { size, kinds: use.value.kinds });
    }
    const all = [...known.values()].map(({ kinds }) => kinds);
    return succeeded({ conversations: all.length, data: sumUses(all) });
  }

  return {
    read_notification_use: async ({ conversation }) => {
      if (conversation === undefined) return readAll();
      const use = await uses.read(conversation);
      return use.ok ? succeeded({ conversations: 1, data: sumUses([use.value.kinds]) }) : use;
    },
    read_timeline: async ({ conversation, after = 0 }) => {
      const timeline = await timelines.read(conversation);
      return timeline.ok ? succeeded(timeline.value.changedAfter(after, MOST_ITEMS)) : timeline;
    },
  };
}
