// UI strings about what the model knows of files.
import type { FileFreshness, Freshness, FreshnessCounts } from '../../protocol/page/freshnessView.ts';
import { t } from './l10n.ts';

export const freshnessStrings = {
  title: t(
    'Show which files the model knows, and whether they have changed since. Counted are the changes that were noticed; the list compares each file with the disk.',
  ),
  heading: t('What the model knows'),
  brief: (known: number, total: number) => `${known}/${total}`,
  counts: ({ current, reported, pending, unshown, deleted }: FreshnessCounts) =>
    [
      t('Files in the context:'),
      ...(current > 0 ? [t('{0} current', current)] : []),
      ...(reported > 0 ? [t('{0} changed and reported', reported)] : []),
      ...(pending > 0 ? [t('{0} changed, report pending', pending)] : []),
      ...(unshown > 0 ? [t('{0} changed, not shown whole', unshown)] : []),
      ...(deleted > 0 ? [t('{0} deleted', deleted)] : []),
    ].join(' '),
  older: (count: number) =>
    count === 1
      ? t('and 1 older file, which is not compared')
      : t('and {0} older files, which are not compared', count.toLocaleString()),
  explained: t('Compared with the files as they are now, unsaved changes included.'),
  loading: t('Comparing files…'),
  none: t('No content of a file is in the context.'),
  allCurrent: (count: number) =>
    count === 1 ? t('The only file in the context is current.') : t('All {0} files in the context are current.', count),
  behind: (count: number, total: number) => t('{0} of {1} files differ from what the model knows.', count, total),
  states: {
    current: t('Current'),
    reported: t('Changed and reported'),
    pending: t('Changed, report pending'),
    unshown: t('Changed, not shown whole'),
    unreported: t('Changed, not reported'),
    deleted: t('Deleted'),
    withheld: t('May not be read now'),
    forgotten: t('No longer in the context'),
  } satisfies Record<Freshness, string>,
  renamed: (to: string) => t('Renamed to {0}', to),
  unsaved: t('unsaved'),
  deletedReport: {
    delivered: t('reported'),
    pending: t('report pending'),
    no: t('not reported'),
  } satisfies Record<FileFreshness['notified'], string>,
  has: (lines: FileFreshness['lines'], at: string) => {
    if (lines === undefined) return t('All of it as of {0}', at);
    if (lines.length === 0) return t('Parts as of {0}', at);
    const ranges = lines.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
    return t('Lines {0} as of {1}', ranges.join(', '), at);
  },
  current: (count: number) => (count === 1 ? t('1 current file') : t('{0} current files', count)),
  forgotten: (count: number) =>
    count === 1
      ? t('1 file no longer in the context, because the conversation was compacted')
      : t('{0} files no longer in the context, because the conversation was compacted', count),
  showDifference: t('Show difference'),
  showDifferenceOf: (path: string) => t('Show difference: {0}', path),
  update: t('Update'),
  updateTitle: t('Queue a notification with the difference, for the next request'),
  updateOf: (path: string) => t('Update: {0}', path),
  updateAll: t('Update all'),
};
