// Measures publishing while timers and conditions are set: 10,000 of them, over as many conversations as their limit asks
// for. Nothing is written, so that no disk hides their cost.
import { ConversationLog } from '../../src/core/conversation/log.ts';
import { Dispatcher } from '../../src/core/notify/dispatcher.ts';
import { type EventFile } from '../../src/core/ports/storage.ts';
import { Wakes } from '../../src/core/wakes/wakes.ts';
import { type NotificationDraft } from '../../src/protocol/notification.ts';
import { type Condition, MOST_WAKES } from '../../src/protocol/wakes.ts';
import { countingIds, silentLogger, stillClock } from '../support/log/memoryStorage.ts';
import { measure } from './measure.ts';

const CONDITIONS = 10_000;
const CONVERSATIONS = CONDITIONS / MOST_WAKES;
/** How many conversations get each notification. */
const LISTENERS = 10;
const PUBLISHED = 3000;
const SCOPE = 'file:src/app.ts';

/** None of them is met by what is published. */
function conditionOf(index: number): Condition {
  const atoms: readonly Condition[] = [
    { notified: 'task.ended', has: `exit code ${index}` },
    { notified: 'file.changed', has: `file${index}.ts` },
    { notify: `script${index}` },
    { task: `task${index}`, is: 'failed' },
    { after: '6d' },
  ];
  const [one, other] = [atoms[index % atoms.length], atoms[(index + 1) % atoms.length]];
  if (one === undefined || other === undefined) throw new Error('there are atoms');
  return index % 2 === 0 ? { all: [one, other] } : one;
}

const draft: NotificationDraft = {
  kind: { source: 'file', name: 'changed' },
  level: 'warning',
  message: `src/app.ts changed since you read it, by the user in the editor:\n${'+a line of text\n'.repeat(8)}`,
  subject: SCOPE,
  scopes: [SCOPE],
  origin: 'editor',
  at: new Date(stillClock.now()).toISOString(),
};

const nowhere: EventFile = {
  append: () => Promise.resolve(),
  repair: () => Promise.resolve({ events: [], nextSeq: 1, damage: [] }),
  close: () => Promise.resolve(),
};

/** Publishes to conversations with so many conditions each. */
async function window(each: number): Promise<() => Promise<number>> {
  const ids = countingIds();
  const all = Array.from({ length: CONVERSATIONS * MOST_WAKES }, (_, index) => ({
    ...{ name: `task${index}`, background: false },
  }));
  const list = async () => ({ ok: true as const, value: all });
  const ended = { list, onDidEnd: () => ({ dispose: () => undefined }) };
  const wakes = new Wakes({ clock: stillClock, ids, logger: silentLogger, tasks: ended });
  const dispatcher = new Dispatcher({ ids, repair: () => Promise.resolve() });
  for (let index = 0; index < CONVERSATIONS; index += 1) {
    const id = ids.ulid();
    const opened = { events: [], nextSeq: 1, damage: [], file: nowhere };
    const log = new ConversationLog({ id, opened, clock: stillClock, ids, logger: silentLogger });
    dispatcher.join(log);
    wakes.join(log);
    if (index < LISTENERS) dispatcher.subscribe(id, { scope: SCOPE });
    for (let number = 0; number < each; number += 1) {
      const until = stillClock.now() + 7 * 86_400_000;
      const request = { name: `w${number}`, until, most: 1, note: '', call: 'c' };
      const set = await wakes.set(id, { ...request, when: conditionOf(index * MOST_WAKES + number) });
      if (!set.ok) throw new Error(set.failure.message);
    }
    if (wakes.list(id).length !== each) throw new Error('a condition is missing');
  }
  wakes.start();
  return async () => {
    for (let index = 0; index < PUBLISHED; index += 1) {
      const carried = await dispatcher.publish(draft);
      if (!Array.isArray(carried) || carried.length !== LISTENERS) throw new Error('not ten listeners');
      // Otherwise the queue would grow from round to round.
      await dispatcher.withdraw(draft.kind, SCOPE, 'measured');
    }
    return PUBLISHED;
  };
}

const [without, withConditions] = [await window(0), await window(MOST_WAKES)];
await measure({
  what: 'publish and queue with 10,000 conditions',
  control: 'without conditions, equal conversations',
  goal: 1.2,
  clock: 'processor',
  runControl: without,
  runEarshot: withConditions,
});
