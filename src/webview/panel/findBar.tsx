// Find in the conversation: jumps between the items that contain the text, and marks it.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chunked } from '../chunked.ts';
import { IconButton } from '../render/icons.tsx';
import { rawTextOf } from '../render/item.tsx';
import type { PageItem } from '../state.ts';
import { transcriptStrings as strings } from '../strings/transcriptStrings.ts';
import { bringIntoView, FOUND } from './bringIntoView.ts';

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
    return () => CSS.highlights.delete(FOUND);
  }, []);
  useEffect(() => {
    if (current === undefined) {
      CSS.highlights.delete(FOUND);
      return;
    }
    reveal(current);
    return bringIntoView(area, { item: current, text: query });
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
      <IconButton icon="arrow-up" label={strings.findPrevious} run={() => move(1)} />
      <IconButton icon="arrow-down" label={strings.findNext} run={() => move(-1)} />
      <IconButton icon="close" label={strings.findClose} run={close} />
    </div>
  );
}

function findItems(items: Chunked<PageItem>, query: string): string[] {
  const wanted = query.toLowerCase();
  return items.chunks.flatMap((chunk) =>
    chunk.filter((item) => rawTextOf(item).toLowerCase().includes(wanted)).map(({ id }) => id),
  );
}
