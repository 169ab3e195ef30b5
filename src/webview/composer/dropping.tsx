// Attaches files that are dropped anywhere on the page, and shows a hint while they are dragged over it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { composerStrings as strings } from '../strings/composerStrings.ts';
import { Icon } from '../render/icons.tsx';
import { mayDrop } from './dropped.ts';

/** Whether something that can be dropped is over the page. */
export function useDropping(drop: (data: DataTransfer) => void): boolean {
  const [over, setOver] = useState(false);
  const newest = useRef(drop);
  newest.current = drop;
  useEffect(() => {
    const listening = new AbortController();
    const { signal } = listening;
    // Something dragged within the page is not meant to be attached.
    let ownDrag = false;
    const offered = ({ dataTransfer: data }: DragEvent) =>
      data !== null && !ownDrag && mayDrop(data) ? data : undefined;
    window.addEventListener('dragstart', () => (ownDrag = true), { signal });
    window.addEventListener('dragend', () => (ownDrag = false), { signal });
    window.addEventListener(
      'dragover',
      (event) => {
        const data = offered(event);
        if (data === undefined) return;
        event.preventDefault();
        data.dropEffect = 'copy';
        setOver(true);
      },
      { signal },
    );
    window.addEventListener(
      'dragleave',
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      { signal },
    );
    window.addEventListener(
      'drop',
      (event) => {
        setOver(false);
        const data = offered(event);
        if (data === undefined) return;
        // Otherwise the browser would open the file in place of the page.
        event.preventDefault();
        newest.current(data);
      },
      { signal },
    );
    return () => listening.abort();
  }, []);
  return over;
}

export function DropHint() {
  return (
    <div class="drop-hint" role="status">
      <p>
        <Icon name="add" />
        {strings.dropHint}
      </p>
    </div>
  );
}
