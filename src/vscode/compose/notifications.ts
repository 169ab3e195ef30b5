// Composes the UI of notifications: the Notifications view and its commands.
import * as vscode from 'vscode';
import { type Client } from '../../core/client/client.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ListedNotification } from '../../core/frontend/notificationList.ts';
import { type Store } from '../../core/ports/storage.ts';
import { realClock } from '../../node/realClock.ts';
import { type ShownChat } from '../chat/pageHandlers.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS, NOTIFICATIONS_VIEW, OVERVIEW_VIEW } from '../ids.ts';
import { type Mute } from '../../protocol/page/pendingView.ts';
import { chooseKindToMute, mute, unmute } from '../notifications/muting.ts';
import { type LazyTree } from '../notifications/lazyTree.ts';
import { type NotificationNode, NotificationsView } from '../notifications/notificationsView.ts';
import { OverviewView } from '../notifications/overviewView.ts';
import { RecentMutes } from '../notifications/recentMutes.ts';
import { type Window } from './window.ts';
import { failureMessage } from '../failureMessage.ts';

export interface NotificationParts {
  readonly earshot: Earshot;
  readonly client: Pick<Client, 'call'>;
  readonly store: Store;
  readonly chat: ShownChat;
  readonly tree: LazyTree<NotificationNode>;
  /** Shows an item of the shown conversation in the chat. */
  showItem(item: string): Promise<void>;
}

export function composeNotifications(
  { context, logger, settings, waiting, held, report }: Window,
  { earshot, client, store, chat, tree, showItem }: NotificationParts,
) {
  const recent = new RecentMutes({ memory: context.globalState, now: () => realClock.now() });
  const deps = { recent, waiting, settings: () => settings.current, report: report('a message could not be shown') };
  const failed = report('the notifications cannot be shown');
  const view = held.add(new NotificationsView({ tree, store, earshot, chat, clock: realClock, report: failed }));
  const overview = held.add(
    new OverviewView({
      ...{ extension: context.extensionUri, clock: realClock, logger, client, earshot, chat, settings },
      version: String((context.extension.packageJSON as { version?: unknown }).version),
      undoable: () => Object.keys(recent.all),
      mute: (what) => mute(deps, what),
      unmute: (what) => unmute(deps, what),
      showItem,
      showRequest: async (item) => vscode.commands.executeCommand(COMMANDS.showRequest, item),
    }),
  );
  held.add(vscode.window.registerWebviewViewProvider(OVERVIEW_VIEW, overview));
  const dismiss = async (ids: readonly string[]) => {
    if (chat.shown === undefined || ids.length === 0) return;
    const dismissed = await client.call('dismiss', { conversation: chat.shown, notification_ids: ids });
    if (!dismissed.ok) await vscode.window.showWarningMessage(failureMessage(dismissed.failure));
  };
  const muteItem = async (item: unknown, by: 'kind' | 'source' | 'path') => {
    const chosen = view.notificationOf(item);
    const what = chosen === undefined ? await chooseKindToMute(settings.current) : muteOf(chosen, by);
    if (what !== undefined) await mute(deps, what);
  };
  const commands = {
    [COMMANDS.showNotifications]: async () => vscode.commands.executeCommand(`${NOTIFICATIONS_VIEW}.focus`),
    [COMMANDS.showOverview]: async () => vscode.commands.executeCommand(`${OVERVIEW_VIEW}.focus`),
    [COMMANDS.dismissNotification]: async (item: unknown) => {
      const chosen = view.notificationOf(item);
      if (chosen !== undefined) await dismiss([chosen.id]);
    },
    [COMMANDS.clearNotifications]: async () => {
      const live = chat.shown === undefined ? undefined : earshot.get(chat.shown);
      await dismiss((live?.log.state.pending.notifications ?? []).map(({ id }) => id));
    },
    [COMMANDS.muteKind]: (item: unknown) => muteItem(item, 'kind'),
    [COMMANDS.muteSource]: (item: unknown) => muteItem(item, 'source'),
    [COMMANDS.mutePath]: (item: unknown) => muteItem(item, 'path'),
    [COMMANDS.showNotification]: async (item: unknown) => {
      const chosen = view.notificationOf(item);
      if (chosen === undefined) return;
      const document = await vscode.workspace.openTextDocument({ content: chosen.message });
      await vscode.window.showTextDocument(document, { preview: true });
    },
    [COMMANDS.filterNotifications]: () => view.chooseFilter(),
    [COMMANDS.searchNotifications]: () => view.search(),
    [COMMANDS.resetNotificationFilter]: () => view.resetFilter(),
  } satisfies Partial<CommandHandlers>;
  return { commands, mute: (what: Mute) => mute(deps, what) };
}

function muteOf({ source, name, path }: ListedNotification, by: 'kind' | 'source' | 'path') {
  if (by === 'path') return path === undefined ? undefined : ({ by, path } as const);
  return { by, kind: { source, name } } as const;
}
