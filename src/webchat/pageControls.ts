// Handlers of a page for the list of conversations, the controls below the composer, attachments and background commands.
import { type ChatFrontend } from '../core/frontend/chatFrontend.ts';
import { readContext } from '../core/frontend/contextView.ts';
import { type PluginClient } from '../plugins/client/pluginClient.ts';
import { type RequestFields } from '../protocol/plugin.ts';
import { type PageHead } from './pageHead.ts';
import { type Conversations } from './conversations.ts';
import { type PageHandlers } from './handled.ts';
import { type FollowedConversation } from './followedConversation.ts';
import { type PageAttachments } from './pageAttachments.ts';
import { type PageCommands } from './pageCommands.ts';

const MOST_LISTED = 300;
/** The source of completions that are files. */
const FILES = 'files';

export interface PageControlsDeps {
  readonly client: Pick<PluginClient, 'request'>;
  readonly conversations: Pick<Conversations, 'list'>;
  readonly frontend: Pick<ChatFrontend, 'reply' | 'setHead'>;
  readonly attachments: PageAttachments;
  readonly commands: PageCommands;
  readonly head: Pick<PageHead, 'modelOf' | 'settingsOf'>;
  /** Shows another conversation, or a new chat. */
  show(conversation: string | undefined): Promise<void>;
  shown(): FollowedConversation | undefined;
  /** Called after the conversation was deleted. */
  forget(conversation: string): void;
  /** Sends a message as the user. */
  send(text: string): Promise<void>;
  /** Called when settings or the model may have changed. */
  chosen(): Promise<void>;
}

export type ControlType =
  | 'list_conversations'
  | 'rename_conversation'
  | 'fork_conversation'
  | 'delete_conversation'
  | 'attach_image'
  | 'detach'
  | 'complete'
  | 'choose_completion'
  | 'list_models'
  | 'pick_model'
  | 'set_mode'
  | 'set_effort'
  | 'set_approvals'
  | 'read_media'
  | 'read_context'
  | 'stop_handle'
  | 'hide_handle'
  | 'tell_of_handle';

export function createPageControls(deps: PageControlsDeps): Pick<PageHandlers, ControlType> {
  const { client, conversations, frontend, attachments, commands } = deps;
  const list = async (query: string) => {
    const wanted = query.trim();
    const all = await conversations.list();
    const items = all.filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase())).slice(0, MOST_LISTED);
    frontend.reply({ type: 'conversations', query: wanted, items, searching: false });
  };
  const choose = async (chosen: RequestFields<'choose'>) => {
    const conversation = deps.shown()?.id;
    await client.request('choose', { ...chosen, ...(conversation !== undefined && { conversation }) });
    await deps.chosen();
    frontend.setHead({ models: null });
  };
  return {
    list_conversations: ({ query }) => list(query),
    rename_conversation: async ({ id: conversation, title }) => {
      await client.request('rename_conversation', { conversation, title });
      await list('');
    },
    fork_conversation: async ({ id }) => {
      const { conversation } = await client.request('fork_conversation', { conversation: id });
      await deps.show(conversation);
    },
    delete_conversation: async ({ id: conversation }) => {
      if (deps.shown()?.id === conversation) await deps.show(undefined);
      await client.request('delete_conversation', { conversation });
      deps.forget(conversation);
      await list('');
    },
    attach_image: (message) => attachments.attachImage(message),
    detach: ({ id }) => attachments.detach(id),
    complete: async ({ trigger, query }) => {
      const { data } = await client.request('complete', { trigger, query });
      const items = data.map(({ name, label, detail, insert }) =>
        insert === undefined
          ? ({ source: FILES, id: name, mention: name, label, detail, icon: 'file' } as const)
          : ({ source: '', id: name, label, detail, icon: 'play', insert } as const),
      );
      frontend.reply({ type: 'completions', trigger, query, items });
    },
    choose_completion: ({ source, id }) => (source === FILES ? attachments.attachFile(id) : undefined),
    list_models: async () => {
      const conversation = deps.shown()?.id;
      const { data } = await client.request('list_models', { all: true, ...(conversation && { conversation }) });
      frontend.setHead({ models: data });
    },
    pick_model: ({ model }) => choose({ model }),
    set_mode: ({ mode }) => choose({ mode }),
    set_effort: ({ effort }) => choose({ effort }),
    set_approvals: ({ mode: approvals }) => choose({ approvals }),
    read_media: async ({ hash }) => {
      const conversation = deps.shown()?.id;
      if (conversation === undefined) return;
      const { data } = await client.request('read_media', { conversation, hash });
      frontend.reply({ type: 'media', hash, ...(data !== undefined && { data }) });
    },
    read_context: () => {
      const shown = deps.shown();
      const [model, settings] = [deps.head.modelOf(shown?.id), deps.head.settingsOf(shown?.id)];
      const context = shown === undefined ? null : readContext(shown.state, { ...model, id: settings.model }, settings);
      frontend.reply({ type: 'context', context });
    },
    stop_handle: async ({ call }) => {
      const conversation = deps.shown()?.id;
      if (conversation === undefined) return;
      await client.request('stop_command', { conversation, tool_call_id: call });
      commands.refresh(0);
    },
    hide_handle: ({ call }) => commands.hide(call),
    tell_of_handle: async ({ call }) => {
      const text = commands.askAbout(call);
      if (text !== undefined) await deps.send(text);
    },
  };
}
