// Creates, removes and lists a session's subscriptions.
import { INVALID_PARAMS, JsonRpcError } from '../base/json/jsonRpc.ts';
import { type CallerMethods, commit, now, refused } from './hubContext.ts';

export const subscriptionMethods: CallerMethods<'subscribe' | 'unsubscribe' | 'subscriptions.list'> = {
  subscribe: async (context, { session, agent }, { scope, mention_role: mentionRole, all }) => {
    const given = [scope, mentionRole, all].filter((one) => one !== undefined).length;
    if (given === 0) throw refused('at least one of scope, mention_role, or all must be specified');
    if (given > 1)
      throw new JsonRpcError(INVALID_PARAMS, 'params: only one of scope, mention_role and all may be given');
    const { subscriptions } = context.directory;
    const criteria = { scope, mentionRole: mentionRole?.replace(/^@/, '') };
    if (subscriptions.has(session.id, criteria)) throw refused('subscription already exists');
    const id = subscriptions.nextId;
    const createdAt = now(context);
    const undo = context.directory.subscribe({ id, session: session.id, agent: agent.name, createdAt, ...criteria });
    const made = { subscription_id: id, session_id: session.id };
    const body = { type: 'subscription.add', ...made, scope, mention_role: criteria.mentionRole } as const;
    await commit(context, [{ body, undo }]);
    return { ...made, created_at: createdAt };
  },
  /** `removed` is false if the session does not have this subscription. */
  unsubscribe: async (context, { session }, { subscription_id: id }) => {
    const { directory } = context;
    if (directory.subscriptions.get(id)?.session !== session.id) return { removed: false };
    const undo = directory.unsubscribe(id);
    await commit(context, [{ body: { type: 'subscription.remove', subscription_id: id }, undo }]);
    return { removed: true };
  },
  'subscriptions.list': (context, { session }) => {
    const subscriptions = context.directory.subscriptions
      .of(session.id)
      .map(({ id, scope, mentionRole, createdAt }) => ({
        id,
        scope_type: scope?.type,
        scope_value: scope?.value,
        mention_role: mentionRole,
        ...(scope === undefined && mentionRole === undefined && { all: true as const }),
        created_at: createdAt,
      }));
    return { subscriptions };
  },
};
