// The tool read_notifications: returns notifications in full, delivered or not, newest first and in pages, or the files
// that are not as the model knows them. Changes no state.
import * as z from 'zod';
import { printPath } from '../base/printPath.ts';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { printRanges } from '../core/files/seenPart.ts';
import { type NotificationRecord, type NotificationState } from '../core/ports/notificationRecord.ts';
import { describeIssue } from '../protocol/describeIssue.ts';
import { type Notification, printKind, READ_NOTIFICATIONS } from '../protocol/notification.ts';
import { type FileFreshness, type Freshness } from '../protocol/page/freshnessView.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

const CHARACTERS_AT_ONCE = 20_000;
const MOST_AT_ONCE = 50;
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

const STATES: Readonly<Record<NotificationState, string>> = {
  pending: 'pending',
  shown: 'delivered',
  merged: 'delivered as part of a newer one',
  counted: 'delivered as a count',
  filtered: 'not delivered because of the settings',
  withdrawn: 'withdrawn before delivery',
};

const shape = {
  kind: z.string().min(1).optional().describe('Only this kind, such as file.changed, or source, such as file'),
  subject: z
    .string()
    .min(1)
    .optional()
    .describe('Only notifications whose subject contains this, for example src/app.ts'),
  since: z
    .string()
    .refine((value) => TIME_OF_DAY.test(value) || z.iso.datetime().safeParse(value).success, 'not a time')
    .optional()
    .describe('Only from this time on: 12:03:04 (UTC) or 2026-01-31T12:03:04Z'),
  before: z.string().min(1).optional().describe('Id of the last notification of the previous page'),
};
const schema = z.strictObject(shape);

type ReadRecords = () => Promise<Result<readonly NotificationRecord[]>>;
type WholeMessage = (notification: Notification) => Promise<string>;

export const readNotificationsTool = defineTool({
  name: READ_NOTIFICATIONS,
  description:
    'Returns the notifications of this conversation in full, newest first, at most 50 at once; also those that were counted, merged or shortened on delivery. Reading does not deliver them.',
  effect: 'read',
  traits: { forEveryAgent: true, resultsFrom: 'notification' },
  arguments: {
    ...shape,
    stale: z.boolean().optional().describe('Lists outdated files instead'),
  },
  run: async ({ stale, ...args }, { notifications, wholeMessage, freshness }) => {
    if (stale === true) return answer(printStale(await freshness()));
    const page = await readPage(notifications, args, wholeMessage);
    return page.ok ? answer(page.value) : refuse(page.failure);
  },
});

/** The same for an outside agent, whose arguments are checked here. */
export async function readNotificationsOf(
  records: ReadRecords,
  args: Readonly<Record<string, unknown>>,
): Promise<Result<string>> {
  const parsed = schema.safeParse(args);
  return parsed.success ? readPage(records, parsed.data) : failed('bad_arguments', `${describeIssue(parsed.error)}.`);
}

async function readPage(
  records: ReadRecords,
  { kind, subject, since, before }: z.infer<typeof schema>,
  whole: WholeMessage = async ({ message }) => message,
): Promise<Result<string>> {
  const read = await records();
  if (!read.ok) return read;
  const newestFirst = [...read.value].reverse();
  const from = since === undefined ? undefined : momentOf(since, newestFirst[0]?.notification.at);
  const start = before === undefined ? 0 : newestFirst.findIndex(({ notification }) => notification.id === before) + 1;
  if (before !== undefined && start === 0) {
    return failed('bad_arguments', `before: there is no notification ${before}.`);
  }
  const wanted = newestFirst
    .slice(start)
    .filter(({ notification }) => isOfKind(notification, kind))
    .filter(({ notification }) => subject === undefined || (notification.subject ?? '').includes(subject))
    .filter(({ notification }) => from === undefined || Date.parse(notification.at) >= from);
  return succeeded(await printPage(wanted, whole));
}

function isOfKind({ kind }: NotificationRecord['notification'], wanted: string | undefined): boolean {
  return wanted === undefined || kind.source === wanted || printKind(kind) === wanted;
}

/** A time of day means its last occurrence before the newest notification. */
function momentOf(since: string, newest = ''): number {
  if (!TIME_OF_DAY.test(since)) return Date.parse(since);
  const sameDay = Date.parse(`${newest.slice(0, 10)}T${since}Z`);
  return sameDay <= Date.parse(newest) ? sameDay : sameDay - 24 * 60 * 60 * 1000;
}

async function printPage(wanted: readonly NotificationRecord[], whole: WholeMessage): Promise<string> {
  if (wanted.length === 0) return 'There is none.';
  const page: string[] = [];
  let length = 0;
  for (const record of wanted) {
    const printed = printNotification(record, await whole(record.notification));
    if (page.length === MOST_AT_ONCE || (page.length > 0 && length + printed.length > CHARACTERS_AT_ONCE)) break;
    page.push(printed);
    length += printed.length + 2;
  }
  const left = wanted.length - page.length;
  const last = wanted[page.length - 1]?.notification.id ?? '';
  return [...page, ...(left === 0 ? [] : [`(${left} more: before ${last}.)`])].join('\n\n');
}

const MOST_STALE = 100;
const STALE: Readonly<Record<Exclude<Freshness, 'current' | 'reported' | 'forgotten'>, string>> = {
  pending: 'changed; a pending notification says how',
  unshown: 'changed; you were not shown the whole change',
  unreported: 'changed; you were not notified',
  deleted: 'no longer there',
  withheld: 'changed or moved; you may not read it now',
};

function printStale(files: readonly FileFreshness[]): string {
  const known = files.filter(({ state }) => state !== 'forgotten');
  const lines = known.flatMap(({ path, state, lines: ranges, at, unsaved, moved_to: to }) => {
    if (state === 'current' || state === 'reported' || state === 'forgotten') return [];
    const has = ranges === undefined ? 'all of it' : ranges.length === 0 ? 'parts' : `lines ${printRanges(ranges)}`;
    const where = to === undefined ? '' : `, renamed to ${printPath(to)}`;
    const buffer = unsaved === true ? ' (unsaved in the editor)' : '';
    return `- ${printPath(path)}: ${STALE[state]}${where}${buffer}. You know ${has} as of ${at.slice(11, 19)}.`;
  });
  const forgotten = files.length - known.length;
  const more = lines.length - MOST_STALE;
  return [
    lines.length === 0
      ? `All ${known.length} files in your context are as you know them.`
      : `${lines.length} of ${known.length} files in your context are not as you know them. Read one again before you rely on it:`,
    ...lines.slice(0, MOST_STALE),
    ...(more > 0 ? [`(${more} more.)`] : []),
    ...(forgotten > 0 ? [`(The content of ${forgotten} files that you have read is no longer in your context.)`] : []),
  ].join('\n');
}

/** Messages are quoted, so that they cannot imitate the next entry. */
function printNotification({ notification, state }: NotificationRecord, message: string): string {
  const { id, kind, level, at, origin, subject } = notification;
  const about = subject === undefined ? '' : `, ${subject.replace(/[\s\u0085]+/g, ' ')}`;
  const name = printKind(kind).replace(/[\s\u0085]+/g, ' ');
  const quoted = message.split(/\r\n|[\n\r\u2028\u2029\u0085]/).map((line) => `> ${line}`);
  return [`${id} ${name} [${level}] ${at}, by ${origin}${about} (${STATES[state]}):`, ...quoted].join('\n');
}
