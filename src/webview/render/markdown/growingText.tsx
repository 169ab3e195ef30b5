// Renders growing text in blocks of lines, of which only the last one changes.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Growing } from '../../growing.ts';

const BLOCK = 4096;

interface Drawn {
  pieces: readonly string[];
  count: number;
  /** The text of the last block, still open. */
  open: string;
}

/** The element's children belong to this component; Preact sees an empty element. */
export function GrowingText({ text, class: name }: { readonly text: Growing; readonly class?: string }) {
  const element = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn>({ pieces: [], count: 0, open: '' });
  useLayoutEffect(() => {
    if (element.current === null) return;
    if (drawn.current.pieces !== text.pieces || drawn.current.count > text.count) {
      element.current.replaceChildren();
      drawn.current = { pieces: text.pieces, count: 0, open: '' };
    }
    draw(element.current, drawn.current, text);
  }, [text]);
  return <div ref={element} class={name} />;
}

function draw(element: HTMLElement, drawn: Drawn, text: Growing): void {
  const more = text.pieces.slice(drawn.count, text.count).join('');
  drawn.count = text.count;
  if (more === '') return;
  drawn.open += more;
  let last = element.lastElementChild ?? element.appendChild(document.createElement('div'));
  while (drawn.open.length > BLOCK) {
    const end = drawn.open.indexOf('\n', BLOCK);
    if (end < 0) break;
    // The end of a block acts as the line break, also in copied text.
    last.textContent = drawn.open.slice(0, end);
    drawn.open = drawn.open.slice(end + 1);
    last = element.appendChild(document.createElement('div'));
  }
  last.textContent = drawn.open;
}
