// UI strings of the notifications overview.
import type { KindUse, UseScope } from '../../protocol/page/overviewView.ts';
import { t } from '../strings/l10n.ts';

export const overviewStrings = {
  title: t('Overview of notifications'),
  loading: t('Reading the log…'),
  noConversation: t('No conversation is shown.'),
  use: t('Use of notifications'),
  counted: t('Conversations that are counted'),
  scopes: { conversation: t('This conversation'), all: t('All conversations') } satisfies Record<UseScope, string>,
  exportJson: t('Export as JSON'),
  explained: t('Used: one of the model’s next two steps read, edited, ran or named what the notification is about.'),
  ofAll: (count: number) =>
    count === 1
      ? t('Counted in 1 conversation of this folder.')
      : t('Counted in {0} conversations of this folder.', count),
  none: t('No notification was delivered yet.'),
  caption: t('Delivered notifications by kind, with their tokens and how often the model used them'),
  kind: t('Kind'),
  delivered: t('Delivered'),
  tokens: t('Tokens'),
  used: t('Used'),
  usedTitle: t('After how many of them one of the model’s next two steps touched the subject'),
  number: (value: number) => value.toLocaleString(),
  share: (used: number, followed: number) =>
    followed === 0 ? '–' : t('{0} of {1}', used.toLocaleString(), followed.toLocaleString()),
  touches: ({ read, edited, ran, answered }: KindUse) =>
    [
      ...(read > 0 ? [t('read {0}', read)] : []),
      ...(edited > 0 ? [t('edited {0}', edited)] : []),
      ...(ran > 0 ? [t('ran {0}', ran)] : []),
      ...(answered > 0 ? [t('named in an answer {0}', answered)] : []),
    ].join(' · '),
  refused: (count: number) =>
    count === 1
      ? t('1 edit after it was refused as outdated')
      : t('{0} edits after it were refused as outdated', count),
  neverUsed: (tokens: number) => t('Never used. Muted, it would have saved ≈ {0} tokens.', tokens.toLocaleString()),
  mute: t('Mute'),
  muteKind: (label: string) => t('Mute: {0}', label),
  muted: t('Muted'),
  undo: t('Undo'),
  unmuteKind: (label: string) => t('Undo muting: {0}', label),
};
