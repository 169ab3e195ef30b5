// What is due in a conversation, as pages and programs list it: timers, conditions, and the lines and events for which the
// model waits.
import { type DueView, type FollowedView } from '../../protocol/page/handlesView.ts';
import { handleInScope, nameOfSubject } from '../../protocol/scopes.ts';
import { type Projections } from '../conversation/projections/project.ts';
import { type SetWake, type WakeStates } from '../conversation/wakes.ts';
import { type ListedWake } from '../wakes/wakes.ts';
import { isTimer } from '../wakes/wakeTexts.ts';

type Due = Pick<Projections, 'wakes' | 'lines' | 'events'>;

/** Soonest first, then what has no time. `listed`: with what is known about each; absent: as the log has them. */
export function viewDue(state: Due, listed = listLogged(state.wakes.all)): readonly (DueView | FollowedView)[] {
  return [...listed.toSorted((a, b) => a.next - b.next).map(viewWake), ...viewLines(state), ...viewEvents(state)];
}

/** From the log alone, where what is known about each part of a condition is not. */
function listLogged(all: readonly SetWake[]): readonly ListedWake[] {
  return all.map((wake) => {
    const { every, last, until } = wake;
    return { wake, next: every === undefined ? until : last + every, facts: [] };
  });
}

function viewWake({ wake, next, facts }: ListedWake): DueView {
  const { name, when, note, every, most, fires } = wake;
  const timer = isTimer(wake);
  return {
    what: 'wake',
    name,
    timer,
    next: new Date(next).toISOString(),
    note,
    ...(when !== undefined && !timer && { when }),
    // Evidence may be long; the model gets it whole.
    facts: timer
      ? []
      : facts.map(({ truth, evidence }) => ({ truth, evidence: evidence.split('\n', 1).join('').slice(0, 300) })),
    ...(every !== undefined && { left: most - fires }),
  };
}

function viewLines({ lines, wakes }: Due): readonly FollowedView[] {
  return [...lines.all.values()].map(({ target, patterns, quietAfterSeconds, grant }) => ({
    what: 'lines',
    name: target,
    title: handleInScope(target) ?? nameOfSubject(target),
    waitsFor: patterns,
    ...(quietAfterSeconds !== undefined && { quiet: quietAfterSeconds }),
    ...standing(wakes, grant),
  }));
}

function viewEvents({ events, wakes }: Due): readonly FollowedView[] {
  return [...events.all.values()].map(({ name, grant }) => ({
    what: 'events',
    name,
    title: name,
    waitsFor: [],
    ...standing(wakes, grant),
  }));
}

/** The standing wake that the user has approved. */
function standing(wakes: Pick<WakeStates, 'grant'>, id: string | undefined): Pick<FollowedView, 'wakes'> {
  const grant = id === undefined ? undefined : wakes.grant(id);
  if (grant === undefined) return {};
  return { wakes: { left: grant.left, until: new Date(grant.until).toISOString() } };
}
