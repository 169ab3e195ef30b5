// The items of the timeline as the page has them: merged from parts, in the order of time, and found again by time and place.
import type { TimelineItem } from '../../protocol/page/overviewView.ts';

export interface TimelineData {
  readonly byId: ReadonlyMap<number, TimelineItem>;
  /** In the order of time. */
  readonly ordered: readonly TimelineItem[];
  /** Notifications with the cycle that carried them. */
  readonly links: readonly (readonly [TimelineItem, TimelineItem])[];
  readonly from: number;
  readonly to: number;
}

export const NO_DATA: TimelineData = { byId: new Map(), ordered: [], links: [], from: 0, to: 0 };

/** `whole`: the items replace all before. */
export function merge(before: TimelineData, items: readonly TimelineItem[], whole: boolean): TimelineData {
  const byId = new Map(whole ? undefined : before.byId);
  for (const item of items) byId.set(item.id, item);
  const ordered = [...byId.values()].sort((one, other) => one.at - other.at || one.id - other.id);
  const links = ordered.flatMap((item) => {
    const carrier = item.carrier === undefined ? undefined : byId.get(item.carrier);
    return carrier === undefined ? [] : [[item, carrier] as const];
  });
  const to = ordered.reduce((latest, { at, until = at }) => Math.max(latest, until), 0);
  return { byId, ordered, links, from: ordered[0]?.at ?? 0, to };
}

/** The place of the first item at or after this moment. */
function placeOf(ordered: readonly TimelineItem[], at: number): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The item that is closest to the moment, of those that are meant. */
export function nearest(
  ordered: readonly TimelineItem[],
  at: number,
  isMeant: (item: TimelineItem) => boolean,
): TimelineItem | undefined {
  const place = placeOf(ordered, at);
  const before = ordered.findLastIndex((item, index) => index < place && isMeant(item));
  const after = ordered.findIndex((item, index) => index >= place && isMeant(item));
  const [one, other] = [ordered[before], ordered[after]];
  if (one === undefined || other === undefined) return one ?? other;
  return distance(one, at) <= distance(other, at) ? one : other;
}

/** In milliseconds; 0 while it lasts. */
export function distance({ at, until = at }: TimelineItem, moment: number): number {
  return moment < at ? at - moment : Math.max(0, moment - until);
}

/** The next or previous item of the lane. */
export function step(ordered: readonly TimelineItem[], from: TimelineItem, by: 1 | -1): TimelineItem {
  let place = ordered.indexOf(from) + by;
  while (ordered[place] !== undefined && ordered[place]?.lane !== from.lane) place += by;
  return ordered[place] ?? from;
}

/** The item to open for this one: its own, or the last one before it that the chat shows. */
export function openable(ordered: readonly TimelineItem[], item: TimelineItem): string | undefined {
  let place = ordered.indexOf(item);
  while (place >= 0 && ordered[place]?.item === undefined) place -= 1;
  return ordered[place]?.item ?? ordered.find((one) => one.item !== undefined)?.item;
}
