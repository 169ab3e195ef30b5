// A conversation's log as the hub needs it: title, seen files, and its place on the hub.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type AgentConversation } from '../ports/agentHub.ts';
import { type ConversationLog } from './log.ts';

export function viewAsAgent(log: ConversationLog): AgentConversation {
  return {
    id: log.id,
    title: () => log.state.summary.title,
    seenPaths: () => log.state.seen.paths(),
    place: (hub) => log.state.hubAgents.place(hub),
    name: () => log.state.hubAgents.name ?? hubNameOf(log.state.summary.subagent?.name),
    remember: (hub, place) => log.append({ type: 'hub_agent', hub, ...place }),
    onDidChangeTitle: (listener) =>
      both(
        log.onDidAppend(({ titleChanged }) => titleChanged && listener()),
        log.onDidReset(() => listener()),
      ),
    onDidSee: (listener) =>
      both(
        log.onDidAppend(({ event }) => {
          if ('seen' in event && event.seen !== undefined) listener(event.seen.map(({ path }) => path));
        }),
        log.onDidReset(() => listener([...log.state.seen.paths()])),
      ),
  };
}

/** The name of a subagent, in the characters that the hub allows. */
function hubNameOf(name: string | undefined): string | undefined {
  return name
    ?.toLowerCase()
    .replace(/[^a-z0-9_-]/g, '-')
    .slice(0, 32);
}

function both(...held: readonly Disposable[]): Disposable {
  const store = new DisposableStore();
  for (const one of held) store.add(one);
  return store;
}
