// The local verbs about what is due: timers and conditions, lines and events that the model waits for.
import { failed, succeeded } from '../../../base/errors.ts';
import { changeEvents } from '../../conversation/events/changeEvents.ts';
import { stopWatchingLines } from '../../conversation/lines/watchLines.ts';
import { type ConversationLog } from '../../conversation/log.ts';
import { viewDue } from '../../frontend/dueViews.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { holdOpen, whileOwned } from './owning.ts';

const NOTHING = succeeded({});

export function createDueVerbs(ports: LocalPorts): Pick<LocalVerbs, 'list_due' | 'fire_due' | 'cancel_due'> {
  const { earshot, wakes, settings } = ports;
  return {
    list_due: async ({ conversation }) => {
      const opened = await holdOpen(ports, conversation);
      if (!opened.ok) return opened;
      const { hold, live } = opened.value;
      const data = viewDue(live.log.state, live.owned ? wakes.list(conversation) : undefined);
      hold.dispose();
      return succeeded({ data });
    },
    // The user wants it now, also where nothing may wake the model by itself.
    fire_due: ({ conversation, name }) =>
      whileOwned(ports, conversation, async () => {
        if (!(await wakes.fireNow(conversation, name))) return notSet();
        const isPassive = settings()['notifications.activation'] === 'passive';
        const isHeld = isPassive || earshot.get(conversation)?.heldBack !== undefined;
        const delivered = isHeld ? await earshot.deliverNow(conversation) : NOTHING;
        return delivered.ok ? NOTHING : delivered;
      }),
    cancel_due: ({ conversation, what, name }) =>
      whileOwned(ports, conversation, async () => {
        const log = earshot.get(conversation)?.log;
        return log !== undefined && (await cancel(log, what, name)) ? NOTHING : notSet();
      }),
  };

  /** Returns whether there was one. */
  async function cancel(log: ConversationLog, what: 'wake' | 'lines' | 'events', name: string): Promise<boolean> {
    if (what === 'wake') return wakes.cancel(log.id, name, 'user');
    if (what === 'lines') return stopWatchingLines(log, name);
    if (!log.state.events.all.has(name)) return false;
    await changeEvents(log, { type: 'events_unsubscribed', name, by: 'user' });
    return true;
  }
}

function notSet(): ReturnType<typeof failed> {
  return failed('not_set', 'This is not set any more.');
}
