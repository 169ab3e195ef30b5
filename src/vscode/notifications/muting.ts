// Mutes kinds, sources and files of notifications in the settings, and offers to undo it.
import * as vscode from 'vscode';
import { type MuteChange, muteIn, unmuteIn } from './mutedSettings.ts';
import { type RecentMutes } from './recentMutes.ts';
import { describeKind, describeSource } from './notificationTexts.ts';
import { KINDS, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { type Mute } from '../../protocol/page/pendingView.ts';
import { type Settings } from '../../protocol/settings.ts';
import { updateSetting } from '../settings.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';

/** How long undoing it is offered. */
const UNDO_MILLISECONDS = 30_000;

export interface MutingDeps {
  readonly recent: RecentMutes;
  readonly waiting: Pick<WaitingApprovals, 'offer'>;
  settings(): Settings;
  report(error: unknown): void;
}

export async function mute({ settings, recent, waiting, report }: MutingDeps, what: Mute): Promise<void> {
  const before = settings();
  if (what.by === 'kind') await recent.remember(what, before);
  await update(muteIn(before, what));
  const offerUndo = async () => {
    const offer = { subject: 'muted', level: 'info', text: describeMute(what), action: vscode.l10n.t('Undo') } as const;
    if (!(await waiting.offer(offer, AbortSignal.timeout(UNDO_MILLISECONDS)))) return;
    await update(unmuteIn(settings(), what, before));
    if (what.by === 'kind') await recent.forget(what);
  };
  void offerUndo().catch(report);
}

/** Undoes what was muted less than a week ago. */
export async function unmute({ settings, recent }: MutingDeps, what: Mute): Promise<void> {
  const before = what.by === 'kind' ? recent.before(what) : undefined;
  if (what.by !== 'kind' || before === undefined) return;
  await update(unmuteIn(settings(), what, before));
  await recent.forget(what);
}

async function update(change: MuteChange): Promise<void> {
  const { 'notifications.kinds': kinds, 'notifications.ignoredPaths': paths } = change;
  if (kinds !== undefined) await updateSetting('notifications.kinds', kinds);
  if (paths !== undefined) await updateSetting('notifications.ignoredPaths', paths);
}

function describeMute(what: Mute): string {
  if (what.by === 'path') return vscode.l10n.t('Notifications about {0} are muted.', what.path);
  if (what.by === 'source')
    return vscode.l10n.t('All notifications of this source are muted: {0}.', describeSource(what.kind.source));
  return vscode.l10n.t('Notifications of this kind are muted: {0}.', describeKind(what.kind));
}

/** Lets the user choose among the kinds that are not muted. */
export async function chooseKindToMute(settings: Settings): Promise<Mute | undefined> {
  const items = SHIPPED_KINDS.flatMap((kind) => {
    const [source = '', name = ''] = kind.split('.');
    if (settings['notifications.kinds'][source]?.[name === '*' ? 'enable' : name] === false) return [];
    const one = { source, name };
    const by = name === '*' ? ('source' as const) : ('kind' as const);
    return [
      { label: describeKind(one), description: vscode.l10n.t(KINDS[kind].description), muted: { by, kind: one } },
    ];
  });
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Mute Kind'),
    placeHolder: vscode.l10n.t('Select the kind of notification to mute'),
    matchOnDescription: true,
  });
  return chosen?.muted;
}
