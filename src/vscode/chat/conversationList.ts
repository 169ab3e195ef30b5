// The list of conversations in the panel: search, state, and the handlers of its buttons.
import { Prompts } from '../../core/conversation/prompts.ts';
import { findExcerpt } from '../../core/conversation/search.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { belowParents } from '../../core/frontend/belowParents.ts';
import { type Activities } from '../../core/frontend/conversationActivity.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type ConversationSummary, type Store } from '../../core/ports/storage.ts';
import { type ConversationView } from '../../protocol/page/conversationsView.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type ConversationActions } from './conversationCommands.ts';
import { type ConversationsHandlers } from './pageHandlers.ts';
import { leftIn } from './resending.ts';

const MOST_LISTED = 300;
/** Only this many conversations, the newest ones, are searched for the text. */
const MOST_SEARCHED = 500;
/** The page gets intermediate results each time this many conversations were searched. */
const AT_ONCE = 20;

export interface ConversationListDeps {
  readonly store: Store;
  readonly frontend: Pick<ChatFrontend, 'reply'>;
  readonly activities: Activities;
  readonly handles: Pick<Handles, 'list'>;
  readonly actions: ConversationActions;
  readonly logger: Logger;
  /** The shown conversation. */
  shown(): string | undefined;
  open(id: string): Promise<void>;
}

export class ConversationList {
  readonly #deps: ConversationListDeps;
  readonly #prompts: Prompts;
  /** Counts the queries: an older search ends when a newer one begins. */
  #newest = 0;

  constructor(deps: ConversationListDeps) {
    this.#deps = deps;
    this.#prompts = new Prompts(deps.store);
  }

  readonly handlers: ConversationsHandlers = {
    list_conversations: ({ query }) => this.#list(query.trim()),
    list_prompts: async () => {
      const texts = await this.#prompts.ofOthers(this.#deps.shown());
      this.#deps.frontend.reply({ type: 'prompts', texts });
    },
    open_conversation: ({ id }) => this.#deps.open(id),
    rename_conversation: ({ id, title }) => this.#deps.actions.rename(id, title),
    fork_conversation: ({ id }) => this.#deps.actions.fork(id),
    export_conversation: ({ id }) => this.#deps.actions.export(id),
    delete_conversation: ({ id }) => this.#deps.actions.remove(id),
  };

  async #list(query: string): Promise<void> {
    const { store, frontend, logger } = this.#deps;
    const number = ++this.#newest;
    const listed = await store.list();
    if (!listed.ok) {
      logger.warn(`the conversations cannot be listed: ${listed.failure.message}`);
      frontend.reply({ type: 'conversations', query, items: [], searching: false });
      return;
    }
    const found: ConversationView[] = [];
    const reply = (searching: boolean) =>
      frontend.reply({ type: 'conversations', query, items: found.slice(0, MOST_LISTED), searching });
    const wanted = query.toLowerCase();
    const all = wanted === '' ? belowParents(listed.value) : listed.value.map((item) => ({ item, nested: false }));
    for (const [index, { item: summary, nested }] of all.entries()) {
      if (number !== this.#newest) return;
      const match = wanted === '' || summary.title.toLowerCase().includes(wanted);
      const excerpt = match || index >= MOST_SEARCHED ? undefined : await this.#excerpt(summary.id, query);
      if (match || excerpt !== undefined) found.push(this.#view(summary, excerpt, nested));
      if (wanted !== '' && index % AT_ONCE === AT_ONCE - 1) reply(true);
    }
    if (number === this.#newest) reply(false);
  }

  async #excerpt(id: string, query: string): Promise<string | undefined> {
    const read = await this.#deps.store.read(id);
    return read.ok ? findExcerpt(read.value.events, query) : undefined;
  }

  #view(
    { id, title, lastActivity, subagent, problem, ...facts }: ConversationSummary,
    excerpt: string | undefined,
    nested: boolean,
  ): ConversationView {
    const activity = this.#deps.activities.activityOf(id);
    return {
      id,
      title,
      lastActivity,
      ...(activity !== undefined && { activity }),
      ...(subagent !== undefined && { subagent: { name: subagent.name, nested } }),
      ...(facts.forkedFrom !== undefined && { forked: true }),
      ...leftIn(this.#deps.handles, id, facts.unreviewed),
      ...(facts.choice !== undefined && { choice: facts.choice }),
      ...(problem !== undefined && { problem }),
      ...(excerpt !== undefined && { excerpt }),
    };
  }
}
