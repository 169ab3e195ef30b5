// Composes the chat: its page, its view and its commands.
import * as vscode from 'vscode';
import { toDisposable } from '../../base/disposable.ts';
import { type Client } from '../../core/client/client.ts';
import { type WindowControls } from '../../core/client/local/localPorts.ts';
import { type Earshot } from '../../core/earshot.ts';
import { ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../core/frontend/chatHead.ts';
import { type ActiveEditor } from '../../core/ports/sources.ts';
import { EditorFocus } from '../sources/editorFocus.ts';
import { Frontends } from '../../core/frontend/frontends.ts';
import { PageComposer } from '../../core/frontend/page/pageComposer.ts';
import { suggestionsFor } from '../../core/frontend/suggestions.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type Wakes } from '../../core/wakes/wakes.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { Attention } from '../chat/attention.ts';
import { Chat } from '../chat/chatController.ts';
import { ChatView } from '../chat/chatView.ts';
import { controlsHandlers, openSettings } from '../chat/controls.ts';
import { conversationCommands, exportConversation } from '../chat/conversationCommands.ts';
import { ForkOrigins } from '../chat/forkOrigins.ts';
import { type CompletionsHandlers, type ReviewHandlers } from '../chat/pageHandlers.ts';
import { contentUri, SNAPSHOT_SCHEME, TranscriptActions } from '../chat/transcriptActions.ts';
import { failureMessage } from '../failureMessage.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { countRules, showRules } from '../consent/alwaysRules.ts';
import { AWAITS_APPROVAL, COMMANDS } from '../ids.ts';
import { RequestDocuments } from '../requests/requestDocuments.ts';
import { type StatusBar } from '../statusBar.ts';
import { OpenFolder } from '../workspace/openFolder.ts';
import { type ChoosingChat } from './models.ts';
import { type composeStorage } from './storage.ts';
import { versionOf, type Window } from './window.ts';

/** The fan-out over all front ends, and what the page of the chat shows. */
export function composeFrontends({ context, logger, held }: Window, model: () => Model) {
  const versions = { version: versionOf(context), hostVersion: vscode.version };
  const all = new Frontends({ clock: realClock, logger });
  const chat = held.add(new ChatFrontend(realClock, emptyChatHead(versions, model()), all.requests));
  const notice = (level: 'info' | 'warning', text: string) =>
    chat.notice({ type: 'notice', id: realIds.ulid(), level, text });
  return { all, chat, notice };
}

interface ChatParts {
  readonly earshot: Earshot;
  readonly client: Client;
  readonly keepAlive: KeepAlive;
  readonly frontends: ReturnType<typeof composeFrontends>;
  readonly storage: ReturnType<typeof composeStorage>;
  readonly handles: Handles;
  readonly workspace: Workspace;
  readonly statusBar: StatusBar;
  readonly hub: WindowHub;
  readonly controls: WindowControls;
  readonly editor: ActiveEditor;
  readonly wakes: Wakes;
}

export type ComposedChat = ReturnType<typeof composeChat>;

export function composeChat({ logger, settings, waiting, held, report }: Window, parts: ChatParts) {
  const { earshot, client, workspace, handles, controls, wakes } = parts;
  const { store, draftsOf, memory, permissions, views } = parts.storage;
  const { chat: frontend, all } = parts.frontends;
  const deps = { clock: realClock, ids: realIds, logger, store, workspace, frontend, client };
  const composer = new PageComposer({ ...deps, draftsOf, t: vscode.l10n.t, didType: () => views.typed() });
  const chat = held.add(
    new Chat({
      ...{ ...parts, ...deps, settings, waiting, composer, memory },
      rulesIn: (conversation) => countRules(permissions, conversation),
    }),
  );
  const { page } = chat;
  held.add(all.add(page));
  held.add(permissions.onDidChange(() => page.refresh()));
  held.add(wakes.onDidChange((conversation) => conversation === chat.shown && page.refresh()));
  let suggested = '';
  const suggest = () => {
    const { model, settings: held } = earshot.choices.of(chat.shown);
    const suggestions = suggestionsFor(folder.facts, model, held);
    if (suggested === suggestions.join('\n')) return;
    suggested = suggestions.join('\n');
    frontend.setHead({ suggestions });
  };
  const folder: OpenFolder = held.add(
    new OpenFolder({
      workspace,
      changed: () => suggest(),
      report: report('the open folder could not be read'),
    }),
  );
  // The model or the mode may have changed.
  held.add(chat.onDidRefresh(suggest));
  const focus = held.add(
    new EditorFocus({
      editor: parts.editor,
      workspace,
      clock: realClock,
      context: () => earshot.choices.of(chat.shown).settings.editorContext,
      show: (editor) => frontend.setHead({ editor }),
      report: report('the active editor could not be shown'),
    }),
  );
  held.add(chat.onDidRefresh(() => focus.refresh()));
  held.add(new ForkOrigins({ ...deps, earshot, handles, chat }));
  const choosing: ChoosingChat = {
    current: () => earshot.choices.of(chat.shown).settings.model,
    choose: async (choice) => {
      const chosen = await controls.choose(choice, chat.shown);
      if (!chosen.ok) page.notice('warning', failureMessage(chosen.failure));
      page.refresh();
    },
  };
  return { ...parts, chat, page, composer, choosing, folder };
}

/** The view with its page, which also shows the review of changes, and the commands on conversations. */
export function composeView(
  { context, logger, settings, waiting, held, report }: Window,
  { chat, page, client, frontends, storage, earshot, workspace, handles }: ComposedChat,
  others: ReviewHandlers & CompletionsHandlers,
) {
  const { chat: frontend, all } = frontends;
  const { requests } = all;
  const { store, snapshots, views } = storage;
  let isVisible = false;
  /** Publishes which conversation the user can see, for other windows and plugins. */
  const announce = () => views.show(isVisible ? chat.shown : undefined);
  held.add(chat.onDidRefresh(announce));
  held.add(toDisposable(() => views.show(undefined)));
  const transcript = held.add(
    new TranscriptActions({
      ...{ earshot, workspace, handles, snapshots },
      shown: () => chat.shown,
      notice: (text) => page.notice('info', text),
      report: report('output could not be shown in a terminal'),
    }),
  );
  const requestDocuments = held.add(
    new RequestDocuments({
      ...{ store, snapshots, workspace, version: versionOf(context) },
      shown: () => chat.shown,
      contentOf: (path, hash) => contentUri(SNAPSHOT_SCHEME, path, hash),
    }),
  );
  const view = held.add(
    new ChatView({
      extension: context.extensionUri,
      ...{ frontend, page },
      handlers: {
        ...chat.handlers,
        ...others,
        ...controlsHandlers,
        ...transcript.handlers,
        export: ({ conversation = chat.shown }) =>
          conversation === undefined ? undefined : exportConversation({ client }, conversation),
      },
      logger,
      onDidChangeVisible: (visible) => {
        isVisible = visible;
        announce();
      },
    }),
  );
  held.add(chat.onDidRefresh(({ shown }) => view.setTitle(shown?.state.summary.title ?? '')));
  let awaits = false;
  held.add(
    chat.onDidRefresh(() => {
      const before = awaits;
      awaits = requests.all.some(({ type, conversation }) => type === 'approval' && conversation === chat.shown);
      if (awaits !== before) void vscode.commands.executeCommand('setContext', AWAITS_APPROVAL, awaits);
    }),
  );
  const open = async (id: string) => {
    await Promise.all([view.reveal(), page.open(id)]);
  };
  held.add(
    new Attention({
      earshot,
      frontend,
      requests,
      view,
      waiting,
      settings: () => settings.current,
      show: open,
      report: report('a message could not be shown'),
    }),
  );
  const reveal = () => view.reveal();
  const commands = {
    [COMMANDS.openChat]: reveal,
    [COMMANDS.newChat]: async () => {
      await Promise.all([reveal(), page.newChat()]);
    },
    [COMMANDS.stop]: () => page.stop(),
    [COMMANDS.approve]: async () => {
      if (!view.visible) await reveal();
      frontend.reply({ type: 'approve_first' });
    },
    [COMMANDS.showRules]: () => showRules({ client, store }),
    [COMMANDS.deliverNow]: () => page.deliver(),
    [COMMANDS.openSettings]: openSettings,
    [COMMANDS.openWaiting]: async (id: unknown) => {
      const waiting = chat.activities.othersThan(chat.shown).find((other) => id === undefined || other.id === id);
      await (waiting === undefined ? reveal() : open(waiting.id));
    },
    ...conversationCommands({
      ...{ client, store, page, clock: realClock, reveal },
      showList: () => frontend.reply({ type: 'show_conversations' }),
    }),
    ...transcript.commands,
    ...requestDocuments.commands,
  };
  return { view, commands };
}
