// The Notifications view: notifications of the shown conversation by state, with search and filters.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Earshot } from '../../core/earshot.ts';
import {
  LISTED_STATES,
  type ListedNotification,
  type ListedState,
  type NotificationFilter,
} from '../../core/frontend/notificationList.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';
import { LEVELS, type Level } from '../../protocol/notification.ts';
import { type ShownChat } from '../chat/pageHandlers.ts';
import { NOTIFICATIONS_FILTERED } from '../ids.ts';
import { type LazyTree, type TreeContent } from './lazyTree.ts';
import { describeLevel, describeListed, describeSource, describeState, titleOf } from './notificationTexts.ts';
import { ShownNotifications } from './shownNotifications.ts';

export type NotificationNode =
  | { readonly type: 'group'; readonly state: ListedState }
  | { readonly type: 'notification'; readonly notification: ListedNotification };

const MOST_IN_GROUP = 500;
const REFRESH_AFTER = 300;
const NO_FILTER: NotificationFilter = { text: '' };

export interface NotificationsViewDeps {
  readonly tree: LazyTree<NotificationNode>;
  readonly store: Store;
  readonly earshot: Earshot;
  readonly chat: ShownChat;
  readonly clock: Clock;
  report(error: unknown): void;
}

export class NotificationsView implements TreeContent<NotificationNode>, Disposable {
  readonly #deps: NotificationsViewDeps;
  readonly #held = new DisposableStore();
  readonly #onDidChange = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<NotificationNode>;
  #timer: Disposable | undefined;
  #filter = NO_FILTER;
  readonly #notifications: ShownNotifications;

  constructor(deps: NotificationsViewDeps) {
    this.#deps = deps;
    this.#view = deps.tree.view;
    const { store, chat } = deps;
    this.#notifications = new ShownNotifications({ store, shown: () => chat.shown, filter: () => this.#filter });
    this.#held.add(deps.tree.attach(this));
    this.#held.add(this.#view.onDidChangeVisibility(() => this.#refreshSoon()));
    this.#held.add(
      deps.earshot.onDidChange(({ conversation, folded }) => {
        if (conversation === deps.chat.shown && folded !== undefined && isAboutNotifications(folded.event.type)) {
          this.#refreshSoon();
        }
      }),
    );
    this.#held.add(
      deps.chat.onDidRefresh(() => {
        if (deps.chat.shown !== this.#notifications.conversation) this.#refreshSoon();
      }),
    );
    this.#describeFilter();
    this.#refreshSoon();
  }

  readonly onDidChangeTreeData = this.#onDidChange.event;

  /** The notification of a tree item that a command was called with. */
  notificationOf(item: unknown): ListedNotification | undefined {
    const node = item as NotificationNode | undefined;
    return node?.type === 'notification' ? node.notification : undefined;
  }

  async search(): Promise<void> {
    const text = await vscode.window.showInputBox({
      title: vscode.l10n.t('Search Notifications'),
      prompt: vscode.l10n.t('Text, file or kind. Leave empty to list all.'),
      value: this.#filter.text,
    });
    if (text !== undefined) this.#setFilter({ ...this.#filter, text: text.trim() });
  }

  async chooseFilter(): Promise<void> {
    const { states, levels, sources } = this.#filter;
    const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator });
    const chosen = await vscode.window.showQuickPick(
      [
        separator(vscode.l10n.t('State')),
        ...LISTED_STATES.map((state) => ({
          label: describeState(state),
          picked: states?.includes(state) ?? true,
          state,
        })),
        separator(vscode.l10n.t('Level')),
        ...LEVELS.map((level) => ({ label: describeLevel(level), picked: levels?.includes(level) ?? true, level })),
        separator(vscode.l10n.t('Source')),
        ...(this.#notifications.list?.sources ?? []).map((source) => ({
          label: describeSource(source),
          picked: sources?.includes(source) ?? true,
          source,
        })),
      ],
      { canPickMany: true, title: vscode.l10n.t('Filter Notifications') },
    );
    if (chosen === undefined) return;
    const states2 = chosen.flatMap((one) => ('state' in one ? [one.state] : []));
    const levels2 = chosen.flatMap((one) => ('level' in one ? [one.level] : []));
    const sources2 = chosen.flatMap((one) => ('source' in one ? [one.source] : []));
    this.#setFilter({
      text: this.#filter.text,
      ...(states2.length < LISTED_STATES.length && { states: states2 }),
      ...(levels2.length < LEVELS.length && { levels: levels2 }),
      ...(sources2.length < (this.#notifications.list?.sources.length ?? 0) && { sources: sources2 }),
    });
  }

  resetFilter(): void {
    this.#setFilter(NO_FILTER);
  }

  getChildren(node?: NotificationNode): NotificationNode[] {
    const { list } = this.#notifications;
    if (list === undefined) return [];
    if (node === undefined) {
      const groups = LISTED_STATES.filter((state) => (list.groups.get(state)?.length ?? 0) > 0);
      return groups.map((state) => ({ type: 'group', state }));
    }
    if (node.type !== 'group') return [];
    const all = list.groups.get(node.state) ?? [];
    return all.slice(0, MOST_IN_GROUP).map((notification) => ({ type: 'notification', notification }));
  }

  getTreeItem(node: NotificationNode): vscode.TreeItem {
    switch (node.type) {
      case 'group': {
        const open = node.state === 'pending' || node.state === 'delivered';
        const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
        const item = new vscode.TreeItem(describeState(node.state), open ? Expanded : Collapsed);
        item.id = `group:${node.state}`;
        item.description = String(this.#notifications.list?.groups.get(node.state)?.length ?? 0);
        return item;
      }
      case 'notification':
        return itemOf(node.notification, this.#deps.clock.now());
    }
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#held.dispose();
    this.#onDidChange.dispose();
  }

  #setFilter(filter: NotificationFilter): void {
    this.#filter = filter;
    this.#describeFilter();
    this.#refreshSoon();
  }

  #describeFilter(): void {
    const { text, ...lists } = this.#filter;
    const filtered = text !== '' || Object.keys(lists).length > 0;
    void Promise.resolve(vscode.commands.executeCommand('setContext', NOTIFICATIONS_FILTERED, filtered)).catch(
      this.#deps.report,
    );
    const parts = [
      ...(text === '' ? [] : [`“${text}”`]),
      ...(lists.states ?? []).map(describeState),
      ...(lists.levels ?? []).map(describeLevel),
      ...(lists.sources ?? []).map(describeSource),
    ];
    this.#view.description = filtered ? vscode.l10n.t('filtered: {0}', parts.join(', ')) : '';
  }

  /** Reads the log only while the view is visible. */
  #refreshSoon(): void {
    if (!this.#view.visible || this.#timer !== undefined) return;
    this.#timer = this.#deps.clock.after(REFRESH_AFTER, () => {
      this.#timer = undefined;
      void this.#refresh().catch(this.#deps.report);
    });
  }

  async #refresh(): Promise<void> {
    await this.#notifications.refresh();
    const { list } = this.#notifications;
    const isEmpty = list === undefined || list.groups.size === 0;
    this.#view.message = isEmpty ? vscode.l10n.t('There are no notifications for this conversation.') : '';
    this.#onDidChange.fire(undefined);
  }
}

const ICONS: Readonly<Record<Level, readonly [string, string | undefined]>> = {
  info: ['info', 'notificationsInfoIcon.foreground'],
  warning: ['warning', 'notificationsWarningIcon.foreground'],
  error: ['error', 'notificationsErrorIcon.foreground'],
  critical: ['flame', 'notificationsErrorIcon.foreground'],
};

function itemOf(notification: ListedNotification, now: number): vscode.TreeItem {
  const { id, level, message, state, path } = notification;
  const item = new vscode.TreeItem(titleOf(notification));
  const [icon, colour] = ICONS[level];
  item.id = id;
  item.iconPath = new vscode.ThemeIcon(icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
  item.description = describeListed(notification, now);
  // Plain text: a message written by others must not contain links or images.
  item.tooltip = message;
  item.contextValue = ['notification', state, ...(path === undefined ? [] : ['file'])].join(' ');
  item.accessibilityInformation = { label: `${titleOf(notification)}, ${describeState(state)}, ${item.description}` };
  return item;
}

function isAboutNotifications(type: string): boolean {
  return (
    type.startsWith('notification_') ||
    type === 'chat_request' ||
    type === 'tool_call_response' ||
    type === 'model_call'
  );
}
