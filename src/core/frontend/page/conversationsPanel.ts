// The list of conversations in the panel of the page: search and state.
import { defined } from '../../../base/json/defined.ts';
import { type VerbResult } from '../../../protocol/client/verbs.ts';
import { type ConversationView } from '../../../protocol/page/conversationsView.ts';
import { type Client } from '../../client/client.ts';
import { belowParents } from '../belowParents.ts';
import { type ChatFrontend } from '../chatFrontend.ts';
import { type Activities } from '../conversationActivity.ts';

const MOST_LISTED = 300;
/** Only this many conversations, the newest ones, are searched for the text. */
const MOST_SEARCHED = 500;
/** The page gets intermediate results each time this many conversations were searched. */
const AT_ONCE = 20;

type Listed = VerbResult<'list_conversations'>['data'][number];

export interface ConversationsPanelDeps {
  readonly client: Pick<Client, 'call'>;
  readonly frontend: Pick<ChatFrontend, 'reply'>;
  readonly activities: Pick<Activities, 'activityOf'>;
  /** The text around a match in the conversation; undefined: nothing matches. Absent: only titles are searched. */
  excerptOf?(conversation: string, query: string): Promise<string | undefined>;
  warn(text: string): void;
}

export class ConversationsPanel {
  readonly #deps: ConversationsPanelDeps;
  /** Counts the queries: an older search ends when a newer one begins. */
  #newest = 0;
  #query: string | undefined;

  constructor(deps: ConversationsPanelDeps) {
    this.#deps = deps;
  }

  /** Lists again after a conversation was renamed or deleted. */
  async refresh(): Promise<void> {
    if (this.#query !== undefined) await this.list(this.#query);
  }

  async list(query: string): Promise<void> {
    const { client, frontend } = this.#deps;
    const number = ++this.#newest;
    this.#query = query;
    const listed = await client.call('list_conversations', {});
    if (!listed.ok) {
      this.#deps.warn(`the conversations cannot be listed: ${listed.failure.message}`);
      frontend.reply({ type: 'conversations', query, items: [], searching: false });
      return;
    }
    const { data } = listed.value;
    const found: ConversationView[] = [];
    const reply = (searching: boolean) =>
      frontend.reply({ type: 'conversations', query, items: found.slice(0, MOST_LISTED), searching });
    const wanted = query.toLowerCase();
    const all = wanted === '' ? belowParents(data) : data.map((item) => ({ item, nested: false }));
    for (const [index, { item, nested }] of all.entries()) {
      if (number !== this.#newest) return;
      const match = wanted === '' || (item.title ?? '').toLowerCase().includes(wanted);
      const excerpt = match || index >= MOST_SEARCHED ? undefined : await this.#deps.excerptOf?.(item.id, query);
      if (match || excerpt !== undefined) found.push(this.#view(item, excerpt, nested));
      if (wanted !== '' && index % AT_ONCE === AT_ONCE - 1) reply(true);
    }
    if (number === this.#newest) reply(false);
  }

  #view(
    { title, last_activated_at: at, subagent, events_count: _, pinned_at: __, ...facts }: Listed,
    excerpt: string | undefined,
    nested: boolean,
  ): ConversationView {
    const activity = this.#deps.activities.activityOf(facts.id);
    return {
      ...facts,
      title: title ?? '',
      lastActivity: Date.parse(at),
      ...defined({ activity }),
      ...(subagent !== undefined && { subagent: { name: subagent.name, nested } }),
      ...defined({ excerpt }),
    };
  }
}
