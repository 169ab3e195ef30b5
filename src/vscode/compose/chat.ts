// Composes the chat: its front end, its view, its commands, and the list of background commands on its page.
import * as vscode from 'vscode';
import { toDisposable } from '../../base/disposable.ts';
import { type Earshot } from '../../core/earshot.ts';
import { ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../core/frontend/chatHead.ts';
import { Frontends } from '../../core/frontend/frontends.ts';
import { suggestionsFor } from '../../core/frontend/suggestions.ts';
import { KeepAlive } from '../../core/keepAlive.ts';
import { Library } from '../../core/library.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { Attention } from '../chat/attention.ts';
import { HandlesController } from '../chat/backgroundCommands.ts';
import { Chat } from '../chat/chatController.ts';
import { ChatView } from '../chat/chatView.ts';
import { Composing } from '../chat/composing.ts';
import { createControlsHandlers, openSettings } from '../chat/controls.ts';
import {
  type ConversationCommandDeps,
  conversationCommands,
  createConversationActions,
} from '../chat/conversationCommands.ts';
import { ConversationList } from '../chat/conversationList.ts';
import { type CompletionsHandlers, type PendingHandlers, type ReviewHandlers } from '../chat/pageHandlers.ts';
import { TerminalMirrors } from '../chat/terminalMirror.ts';
import { ForkOrigins, rewind } from '../chat/resending.ts';
import { TranscriptActions } from '../chat/transcriptActions.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { countRules, forgetRules, showRules } from '../consent/alwaysRules.ts';
import { AWAITS_APPROVAL, COMMANDS } from '../ids.ts';
import { type StatusBar } from '../statusBar.ts';
import { OpenFolder } from '../workspace/openFolder.ts';
import { type composeHandles } from './handles.ts';
import { type composeModels } from './models.ts';
import { type composeStorage } from './storage.ts';
import { type Window } from './window.ts';

/** The fan-out over all front ends, with the chat as the first of them. */
export function composeFrontends({ context, logger, held }: Window, model: () => Model) {
  const versions = { version: versionOf(context), hostVersion: vscode.version };
  const all = new Frontends({ clock: realClock, logger });
  const chat = held.add(new ChatFrontend(realClock, emptyChatHead(versions, model()), all.requests));
  held.add(all.add(chat));
  const notice = (level: 'info' | 'warning', text: string) =>
    chat.notice({ type: 'notice', id: realIds.ulid(), level, text });
  return { all, chat, notice };
}

interface ChatParts {
  readonly earshot: Earshot;
  readonly frontends: ReturnType<typeof composeFrontends>;
  readonly storage: ReturnType<typeof composeStorage>;
  readonly commands: ReturnType<typeof composeHandles>;
  readonly workspace: Workspace;
  readonly statusBar: StatusBar;
  readonly hub: WindowHub;
  readonly models: Pick<ReturnType<typeof composeModels>, 'last'>;
}

export function composeChat({ logger, settings, waiting, held, report }: Window, parts: ChatParts) {
  const { earshot, workspace, statusBar, models, hub } = parts;
  const { store, lock, snapshots, draftsOf, memory, views, permissions } = parts.storage;
  const { handles, supervision } = parts.commands;
  const { chat: frontend, notice } = parts.frontends;
  const { requests } = parts.frontends.all;
  const deps = {
    clock: realClock,
    ids: realIds,
    logger,
    store,
    lock,
    snapshots,
    workspace,
    handles,
    frontend,
    requests,
    hub,
  };
  const composing = new Composing({ ...deps, draftsOf, t: vscode.l10n.t });
  const keepAlive = held.add(new KeepAlive({ ...deps, earshot, supervision }));
  const chat = held.add(
    new Chat({
      ...deps,
      earshot,
      settings,
      waiting,
      composing,
      memory,
      statusBar,
      keepAlive,
      rulesIn: (conversation) => countRules(permissions, conversation),
      readDiffs: async (changes) => (await import('../chat/callDiffs.ts')).readDiffs(snapshots, changes),
    }),
  );
  held.add(permissions.onDidChange(() => chat.refresh()));
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
  const background = held.add(
    new HandlesController({
      ...deps,
      chat,
      mirrors: held.add(new TerminalMirrors(report('output could not be shown in a terminal'))),
      send: (text) => chat.handlers.send({ type: 'send', text }),
      notice: (text) => notice('info', text),
      tokensOf: (id) => {
        // The log of the parent counts a subagent's tokens, and the parent is the shown conversation.
        const used = chat.shown === undefined ? undefined : earshot.get(chat.shown)?.log.state.usage.usedBySubagent(id);
        return [...(used?.values() ?? [])].reduce((sum, { input, output }) => sum + input + output, 0) || null;
      },
    }),
  );
  held.add(new ForkOrigins({ ...deps, earshot, chat }));
  const controls = createControlsHandlers({
    frontend,
    earshot,
    limits: () => settings.limits,
    last: models.last,
    shown: () => chat.shown,
    refresh: () => chat.refresh(),
    warn: (text) => notice('warning', text),
  });
  const library = new Library(deps, earshot);
  /** Continues in a fork that ends before this request. */
  const rewindTo = (conversation: string, request: string) =>
    rewind({ library, composing, t: vscode.l10n.t, open: (id) => chat.open(id) }, conversation, request);
  /** Resolves once a conversation is shown. */
  const restore = () => chat.restore();
  return {
    ...deps,
    library,
    rewind: rewindTo,
    earshot,
    chat,
    composing,
    background,
    controls: controls.handlers,
    choosing: controls.choosing,
    restore,
    keepAlive,
    views,
    permissions,
    folder,
  };
}

/** The view with its page, which also shows the review of changes, and the commands on conversations. */
export function composeView(
  { context, logger, settings, waiting, held, report }: Window,
  {
    chat,
    background,
    controls,
    frontend,
    requests,
    earshot,
    keepAlive: _,
    folder: __,
    rewind: ___,
    choosing: ____,
    views,
    permissions,
    ...deps
  }: ReturnType<typeof composeChat>,
  others: ReviewHandlers & PendingHandlers & CompletionsHandlers,
) {
  let isVisible = false;
  /** Publishes which conversation the user can see, for other windows and plugins. */
  const announce = () => views.show(isVisible ? chat.shown : undefined);
  held.add(chat.onDidRefresh(announce));
  held.add(toDisposable(() => views.show(undefined)));
  const onConversations: ConversationCommandDeps = {
    ...deps,
    chat,
    reveal: () => view.reveal(),
    showList: () => frontend.reply({ type: 'show_conversations' }),
    onDidRemove: (id) => {
      chat.forget(id);
      void forgetRules(permissions, id).catch(report('the rules of a conversation could not be removed'));
    },
  };
  const actions = createConversationActions(onConversations);
  const list = new ConversationList({
    ...deps,
    logger,
    frontend,
    actions,
    activities: chat.activities,
    shown: () => chat.shown,
    open: (id) => chat.open(id),
  });
  const transcript = held.add(
    new TranscriptActions({
      ...deps,
      earshot,
      shown: () => chat.shown,
      open: (id) => chat.open(id),
      notice: (text) => chat.notice('info', text),
      reply: (message) => frontend.reply(message),
    }),
  );
  const view = held.add(
    new ChatView({
      extension: context.extensionUri,
      frontend,
      handlers: {
        ...chat.handlers,
        ...others,
        ...background.handlers,
        ...controls,
        ...list.handlers,
        ...transcript.handlers,
        draft: (message) => {
          views.typed();
          return chat.handlers.draft(message);
        },
      },
      logger,
      onDidChangeVisible: (visible) => {
        isVisible = visible;
        announce();
      },
    }),
  );
  held.add(
    chat.onDidRefresh(() => {
      const live = chat.shown === undefined ? undefined : earshot.get(chat.shown);
      view.setTitle(live?.log.state.summary.title ?? '');
    }),
  );
  waiting.isChatVisible = () => view.visible;
  let awaits = false;
  held.add(
    chat.onDidRefresh(() => {
      const before = awaits;
      awaits = requests.all.some(({ type, conversation }) => type === 'approval' && conversation === chat.shown);
      if (awaits !== before) void vscode.commands.executeCommand('setContext', AWAITS_APPROVAL, awaits);
    }),
  );
  const open = async (id: string) => {
    await Promise.all([view.reveal(), chat.open(id)]);
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
      await Promise.all([reveal(), chat.newChat()]);
    },
    [COMMANDS.stop]: () => chat.stop(),
    [COMMANDS.approve]: async () => {
      if (!view.visible) await reveal();
      frontend.reply({ type: 'approve_first' });
    },
    [COMMANDS.showRules]: () => showRules({ permissions, store: deps.store }),
    [COMMANDS.deliverNow]: () => chat.deliverNow(),
    [COMMANDS.openSettings]: openSettings,
    [COMMANDS.openWaiting]: async (id: unknown) => {
      const waiting = chat.activities.others.find((other) => id === undefined || other.id === id);
      await (waiting === undefined ? reveal() : open(waiting.id));
    },
    ...conversationCommands(onConversations, actions),
    ...transcript.commands,
  };
  return { view, commands };
}

function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version?: unknown };
  return typeof version === 'string' ? version : '';
}
