// Scrolls to an item of the transcript and marks a text in it.
import type { RefObject } from 'preact';
import { rangesOf } from '../render/textMarks.ts';

export const FOUND = 'found';
/** In pixels; an item this close to the edge does not count as visible, since a bar may cover it. */
const MARGIN = 40;
const MOST_FRAMES = 120;
const STEADY_FRAMES = 10;

/**
 * The item may have to be rendered first, and items above it then get their real height: repeats until it stays in
 * place. The result stops it. `arrived` is called with the item.
 */
export function bringIntoView(
  area: RefObject<HTMLElement | null>,
  { item: id, text }: { readonly item: string; readonly text: string },
  arrived?: (item: HTMLElement) => void,
): () => void {
  let [frame, left, steady] = [0, MOST_FRAMES, 0];
  const step = () => {
    const item = area.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`) ?? null;
    steady = show(area.current, item, text) ? steady + 1 : 0;
    left -= 1;
    if (left > 0 && steady < STEADY_FRAMES) frame = requestAnimationFrame(step);
    else if (item !== null) arrived?.(item);
  };
  frame = requestAnimationFrame(step);
  return () => cancelAnimationFrame(frame);
}

/** Returns whether the item was already visible. */
function show(area: HTMLElement | null, item: HTMLElement | null, text: string): boolean {
  const frame = area?.getBoundingClientRect();
  if (item === null || frame === undefined) return false;
  const { top, bottom } = item.getBoundingClientRect();
  const isVisible = bottom > frame.top + MARGIN && top < frame.bottom - MARGIN;
  if (!isVisible) item.scrollIntoView({ block: 'center' });
  CSS.highlights.set(FOUND, new Highlight(...rangesOf(item, [text])));
  return isVisible;
}
