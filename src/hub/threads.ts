// Creates, lists and reads threads.
import { type HubThread } from '../protocol/hubMethods.ts';
import { type CallerMethods, commit, now, refused } from './hubContext.ts';
import { printCursor, type ThreadSummary } from './index/messageRows.ts';
import { readCursor } from './messaging.ts';

const DEFAULT_PAGE = 50;

export const threadMethods: CallerMethods<'thread.create' | 'thread.list' | 'thread.get'> = {
  'thread.create': async (context, { agent }, { title, scopes = [] }) => {
    const thread = {
      thread_id: `thr_${context.ulid()}`,
      title,
      created_by: agent.name,
      created_at: now(context),
      scopes: [...scopes],
    };
    await commit(context, [{ body: { type: 'thread.create', thread }, undo: () => undefined }]);
    return { thread_id: thread.thread_id, created_at: thread.created_at };
  },
  /** Most recently changed threads first. */
  'thread.list': async (context, { agent }, { after, limit = DEFAULT_PAGE }) => {
    const before = readCursor(after);
    const page = await context.index.use((index) => index.threads(agent.name, limit, before));
    const last = page.threads.at(-1)?.changed;
    return {
      threads: page.threads.map(toHubThread),
      after: last === undefined ? (after ?? printCursor(0)) : printCursor(last),
      more: page.more,
    };
  },
  'thread.get': async (context, { agent }, { thread_id: id, after, limit = DEFAULT_PAGE }) => {
    const start = readCursor(after);
    return context.index.use((index) => {
      const thread = index.summary(id, agent.name);
      if (thread === undefined) throw refused('thread_id: there is no such thread');
      const page = index.list({ thread: id }, agent.name, limit, start);
      const last = page.more ? page.messages.at(-1)?.cursor : undefined;
      return { thread: toHubThread(thread), ...page, after: last ?? printCursor(context.lastNumber()) };
    });
  },
};

function toHubThread(thread: ThreadSummary): HubThread {
  const { thread_id, title, message_count, unread_count, last_activity, last_sender, preview, created_by, created_at } =
    thread;
  return { thread_id, title, message_count, unread_count, last_activity, last_sender, preview, created_by, created_at };
}
