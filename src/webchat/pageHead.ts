// The head of a page: its conversation with the model, the effort, the mode and the approvals that hold there.
import { settingsWith } from '../core/conversation/choices.ts';
import { conversationHead, summarizePending } from '../core/frontend/chatHead.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type ChosenModel } from '../protocol/page/windowView.ts';
import { type Settings } from '../protocol/settings.ts';
import { type WebChatOptions } from '../protocol/webChat.ts';
import { type ChatHead } from '../protocol/webview.ts';
import { type Conversations } from './conversations.ts';
import { type FollowedConversation } from './followedConversation.ts';

/** The model of a conversation, and what else holds there. */
export type ShownModel = Omit<ChosenModel, 'context_window'> & { readonly contextWindow: number };

export function toShownModel({ context_window: contextWindow, ...rest }: ChosenModel): ShownModel {
  return { ...rest, contextWindow };
}

export interface PageHeadDeps {
  readonly client: Pick<PluginClient, 'request'>;
  readonly conversations: Pick<Conversations, 'others'>;
  readonly options: Pick<WebChatOptions, 'folderFacts'>;
  settings(): Settings;
  /** The model of new conversations, and what else holds in them. */
  model(): ShownModel;
}

export class PageHead {
  readonly #deps: PageHeadDeps;
  #read: { readonly conversation: string; readonly model: ShownModel } | undefined;

  constructor(deps: PageHeadDeps) {
    this.#deps = deps;
  }

  /** Nothing announces what holds in a conversation, so it is read when it is shown and after each choice. */
  async read(conversation: string | undefined): Promise<void> {
    if (conversation === undefined) return;
    const { current } = await this.#deps.client.request('list_models', { conversation });
    this.#read = { conversation, model: toShownModel(current) };
  }

  modelOf(conversation: string | undefined): ShownModel {
    return this.#read !== undefined && this.#read.conversation === conversation ? this.#read.model : this.#deps.model();
  }

  /** The settings as they hold in the conversation. */
  settingsOf(conversation: string | undefined): Settings {
    const { reference: model, mode, approvals } = this.modelOf(conversation);
    return settingsWith(this.#deps.settings(), { model, mode, approvals });
  }

  of(shown: FollowedConversation | undefined): Partial<ChatHead> {
    const { conversations, options } = this.#deps;
    const model = this.modelOf(shown?.id);
    const settings = this.settingsOf(shown?.id);
    const live = shown && { log: shown, running: shown.running };
    return conversationHead({
      live,
      model,
      choice: { effort: model.effort },
      settings,
      pending: summarizePending(live, model, settings),
      canSend: true,
      obstacles: [],
      others: conversations.others(shown?.id),
      folder: options.folderFacts,
    });
  }
}
