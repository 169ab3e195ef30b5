// Find in the conversation: jumps between the items that contain the text, and marks it.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chunked } from '../chunked.ts';
import { Icon, type IconName } from '../render/icons.tsx';
import { rawTextOf } from '../render/itemBoundary.tsx';
import type { PageItem } from '../state.ts';
import { transcriptStrings as strings } from '../strings/transcriptStrings.ts';

const MARK = 'found';
const MOST_MARKED = 200;
/** In pixels; an item this close to the edge does not count as visible, since the bar covers the top. */
const MARGIN = 40;
const MOST_FRAMES = 120;
const STEADY_FRAMES = 10;

interface Properties {
  readonly items: Chunked<PageItem>;
  readonly area: RefObject<HTMLElement | null>;
  /** Renders the item, which may be in a part of the transcript that is not rendered. */
  readonly reveal: (id: string) => void;
  readonly close: () => void;
}

export function FindBar({ items, area, reveal, close }: Properties) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState('');
  const [place, setPlace] = useState(0);
  const found = query === '' ? [] : findItems(items, query);
  const current = found.at(-1 - place);
  useEffect(() => {
    field.current?.focus();
    return () => CSS.highlights.delete(MARK);
  }, []);
  useEffect(() => {
    if (current === undefined) {
      CSS.highlights.delete(MARK);
      return;
    }
    reveal(current);
    // The item may have to be rendered first, and items above it then get their real height: repeat until it stays in
    // place.
    let [frame, left, steady] = [0, MOST_FRAMES, 0];
    const step = () => {
      steady = show(area.current, current, query) ? steady + 1 : 0;
      left -= 1;
      if (left > 0 && steady < STEADY_FRAMES) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [current, query]);
  const move = (by: number) => {
    if (found.length > 0) setPlace((place + by + found.length) % found.length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter') move(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="find" role="search" aria-label={strings.find} onKeyDown={onKeyDown}>
      <input
        type="search"
        class="search"
        ref={field}
        value={query}
        maxLength={1000}
        placeholder={strings.find}
        aria-label={strings.find}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setPlace(0);
        }}
      />
      <span class="find-count" role="status">
        {query === '' ? '' : strings.findCount(place + 1, found.length)}
      </span>
      <FindButton icon="arrow-up" label={strings.findPrevious} run={() => move(1)} />
      <FindButton icon="arrow-down" label={strings.findNext} run={() => move(-1)} />
      <FindButton icon="close" label={strings.findClose} run={close} />
    </div>
  );
}

function FindButton({
  icon,
  label,
  run,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly run: () => void;
}) {
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} onClick={run}>
      <Icon name={icon} />
    </button>
  );
}

function findItems(items: Chunked<PageItem>, query: string): string[] {
  const wanted = query.toLowerCase();
  return items.chunks.flatMap((chunk) =>
    chunk.filter((item) => rawTextOf(item).toLowerCase().includes(wanted)).map(({ id }) => id),
  );
}

/** Scrolls to the item and marks the text in it. Returns whether the item was already visible. */
function show(area: HTMLElement | null, id: string, query: string): boolean {
  const item = area?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
  const frame = area?.getBoundingClientRect();
  if (item === null || item === undefined || frame === undefined) return false;
  const { top, bottom } = item.getBoundingClientRect();
  const isVisible = bottom > frame.top + MARGIN && top < frame.bottom - MARGIN;
  if (!isVisible) item.scrollIntoView({ block: 'center' });
  mark(item, query.toLowerCase());
  return isVisible;
}

function mark(item: HTMLElement, wanted: string): void {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MOST_MARKED; node = walker.nextNode()) {
    const at = (node.textContent ?? '').toLowerCase().indexOf(wanted);
    if (at === -1) continue;
    const range = new Range();
    range.setStart(node, at);
    range.setEnd(node, at + wanted.length);
    ranges.push(range);
  }
  CSS.highlights.set(MARK, new Highlight(...ranges));
}
