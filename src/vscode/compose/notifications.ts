// Composes the UI of notifications: the Notifications view, its commands, and the handlers of the drawer.
import * as vscode from 'vscode';
import { type Earshot } from '../../core/earshot.ts';
import { type ListedNotification } from '../../core/frontend/notificationList.ts';
import { type Store } from '../../core/ports/storage.ts';
import { realClock } from '../../node/realClock.ts';
import { type PendingHandlers, type ShownChat } from '../chat/pageHandlers.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS, NOTIFICATIONS_VIEW } from '../ids.ts';
import { chooseKindToMute, mute } from '../notifications/muting.ts';
import { type LazyTree } from '../notifications/lazyTree.ts';
import { type NotificationNode, NotificationsView } from '../notifications/notificationsView.ts';
import { type Window } from './window.ts';
import { failureMessage } from '../failureMessage.ts';

export interface NotificationParts {
  readonly earshot: Earshot;
  readonly store: Store;
  readonly chat: ShownChat;
  readonly tree: LazyTree<NotificationNode>;
}

export function composeNotifications(
  { settings, held, report }: Window,
  { earshot, store, chat, tree }: NotificationParts,
) {
  const deps = { settings: () => settings.current, report: report('a message could not be shown') };
  const failed = report('the notifications cannot be shown');
  const view = held.add(new NotificationsView({ tree, store, earshot, chat, clock: realClock, report: failed }));
  const dismiss = async (ids: readonly string[]) => {
    if (chat.shown === undefined || ids.length === 0) return;
    const dismissed = await earshot.dismiss(chat.shown, ids);
    if (!dismissed.ok) await vscode.window.showWarningMessage(failureMessage(dismissed.failure));
  };
  const handlers: PendingHandlers = {
    dismiss_notifications: ({ ids }) => dismiss(ids),
    mute: ({ mute: what }) => mute(deps, what),
  };
  const muteItem = async (item: unknown, by: 'kind' | 'source' | 'path') => {
    const chosen = view.notificationOf(item);
    const what = chosen === undefined ? await chooseKindToMute(settings.current) : muteOf(chosen, by);
    if (what !== undefined) await mute(deps, what);
  };
  const commands = {
    [COMMANDS.showNotifications]: async () => vscode.commands.executeCommand(`${NOTIFICATIONS_VIEW}.focus`),
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
  return { handlers, commands };
}

function muteOf({ source, name, path }: ListedNotification, by: 'kind' | 'source' | 'path') {
  if (by === 'path') return path === undefined ? undefined : ({ by, path } as const);
  return { by, kind: { source, name } } as const;
}
