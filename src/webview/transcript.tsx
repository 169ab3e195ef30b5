// The list of transcript items: shows the newest part and follows the end unless the reader has scrolled up.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Revealed } from './cards/reveal.ts';
import { type Chunked, valueAt } from './chunked.ts';
import { Working, ItemChunk } from './render/item.tsx';
import { useLoaded } from './loaded.ts';
import { Icon } from './render/icons.tsx';
import type { PageItem } from './state.ts';
import { strings } from './strings/strings.ts';

/** Chunks of items shown at first and added by each *Show earlier*. */
const PAGE = 4;
const NEAR = 24;
/** The room above an open request that was scrolled to. */
const CARD_MARGIN = 8;
const LEAVING = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

interface Properties {
  readonly items: Chunked<PageItem>;
  readonly running: boolean;
  /** How many messages the user has sent from this page. */
  readonly sent: number;
  readonly finding: boolean;
  readonly endFinding: () => void;
  readonly revealed: Revealed | null;
  readonly endRevealing: () => void;
}

export function Transcript({ items, running, sent, finding, endFinding, revealed, endRevealing }: Properties) {
  const area = useRef<HTMLDivElement>(null);
  const [pages, setPages] = useState(1);
  const { scroller, content, following, jump, stay } = useFollowing(items, sent);
  const first = Math.max(0, items.chunks.length - pages * PAGE);
  const hidden = items.chunks.slice(0, first).reduce((sum, chunk) => sum + chunk.length, 0);

  const find = useLoaded(finding, () => import('./panel/findBar.tsx'));

  const showEarlier = () => {
    const area = scroller.current;
    const fromEnd = area === null ? 0 : area.scrollHeight - area.scrollTop;
    setPages(pages + 1);
    // Keeps the scroll position.
    requestAnimationFrame(() => {
      if (area !== null) area.scrollTop = area.scrollHeight - fromEnd;
    });
  };

  /** Shows the part of the transcript that has the item. */
  const reveal = (id: string) => {
    stay();
    const place = items.chunks.findIndex((chunk) => chunk.some((item) => item.id === id));
    if (place !== -1) setPages((before) => Math.max(before, Math.ceil((items.chunks.length - place) / PAGE)));
  };

  // It may be in a conversation that is opened for it.
  const isHere = revealed !== null && items.chunks.some((chunk) => chunk.some(({ id }) => id === revealed.item));
  const view = useLoaded(revealed !== null, () => import('./panel/bringIntoView.ts'));
  useEffect(() => {
    if (revealed === null || !isHere || view === undefined) return;
    reveal(revealed.item);
    return view.bringIntoView(area, revealed, (item) => {
      item.querySelector<HTMLElement>('.tool-head:enabled, button, [tabindex]')?.focus({ preventScroll: true });
      endRevealing();
    });
  }, [revealed, isHere, view]);

  return (
    <div class="transcript" ref={area}>
      {finding && find !== undefined && <find.FindBar items={items} area={area} reveal={reveal} close={endFinding} />}
      <div class="scroller" ref={scroller} tabIndex={0} role="log" aria-live="off" aria-label={strings.transcript}>
        <div class="items" ref={content}>
          {first > 0 && (
            <button type="button" class="earlier" onClick={showEarlier}>
              {strings.showEarlier(hidden)}
            </button>
          )}
          {items.chunks.slice(first).map((chunk, index) => (
            <ItemChunk key={first + index} chunk={chunk} />
          ))}
          {running && !showsWork(valueAt(items, items.length - 1)) && (
            <div class="item">
              <Working />
            </div>
          )}
        </div>
      </div>
      {!following && (
        <button
          type="button"
          class="jump"
          title={strings.scrollToBottom}
          aria-label={strings.scrollToBottom}
          onClick={jump}
        >
          <Icon name="arrow-down" />
        </button>
      )}
    </div>
  );
}

/** Whether the item itself shows activity. */
function showsWork(item: PageItem | undefined): boolean {
  if (item?.type === 'answer') return item.streaming;
  return (
    item?.type === 'tool' &&
    (item.state === 'writing' || item.state === 'running' || item.state === 'approval' || item.state === 'question')
  );
}

function useFollowing(items: Chunked<PageItem>, sent: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  /** `isPulled`: the last gesture of the reader since the following began was upwards, or a touch. */
  const state = useRef({ following: true, top: 0, height: 0, isPulled: false });

  const follow = (on: boolean) => {
    state.current.following = on;
    state.current.isPulled = false;
    setFollowing(on);
  };
  const toEnd = () => {
    const area = scroller.current;
    if (area === null) return;
    area.scrollTop = area.scrollHeight;
    remember(area);
  };
  const remember = (area: HTMLElement) => {
    state.current.top = area.scrollTop;
    state.current.height = area.scrollHeight;
  };

  /** Even a small step of a touchpad counts, or growing text would pull a slow reader back again and again. */
  const isScrolledBack = (area: HTMLElement) => state.current.isPulled && area.scrollTop < state.current.top - 1;
  const followEnd = () => {
    const area = scroller.current;
    if (area === null || !state.current.following) return;
    if (isScrolledBack(area)) {
      follow(false);
      return;
    }
    if (opened.current?.isConnected === true && opened.current.ariaExpanded === 'true') {
      // A reader who opened a long card begins at its beginning, not at the end of the transcript.
      if (!showFromHead(area, opened.current)) follow(false);
      opened.current = null;
      remember(area);
      return;
    }
    const card = area.querySelector<HTMLElement>('.state-approval, .state-question');
    if (card === null) toEnd();
    else if (card !== placed.current.card || !placed.current.isLeft) placeAtTop(area, card);
  };
  /** The first open request is kept in view from its beginning, until the reader looks elsewhere (`isLeft`). */
  const placed = useRef<{ card: HTMLElement | null; isLeft: boolean }>({ card: null, isLeft: false });
  const placeAtTop = (area: HTMLElement, card: HTMLElement) => {
    const above = card.getBoundingClientRect().top - area.getBoundingClientRect().top;
    area.scrollTop += above - CARD_MARGIN;
    remember(area);
    placed.current = { card, isLeft: false };
  };

  /** The head of a card that was just clicked, until the card is drawn open. */
  const opened = useRef<Element | null>(null);

  useLayoutEffect(followEnd, [items]);

  // After sending, scrolls to the message, wherever the reader was.
  useLayoutEffect(() => {
    if (sent > 0) follow(true);
    if (sent > 0) toEnd();
  }, [sent]);

  useLayoutEffect(() => {
    const area = scroller.current;
    if (area === null || content.current === null) return;
    const onScroll = () => {
      const left = area.scrollHeight - area.scrollTop - area.clientHeight;
      // Growing text also moves the end away; only scrolling up is an act of the reader.
      // A card that folds makes the content shorter, and the browser moves the rest up with it.
      const shorter = Math.max(0, state.current.height - area.scrollHeight);
      const back = area.scrollTop < state.current.top - 1 - shorter;
      const away = isScrolledBack(area) || (back && left >= NEAR);
      remember(area);
      // Shorter content also moves the transcript back, to its end.
      const arrived = left < 1 || (left < NEAR && !back);
      if (state.current.following && away) follow(false);
      else if (!state.current.following && arrived) follow(true);
    };
    const onClick = ({ target }: MouseEvent) => {
      opened.current = target instanceof Element ? target.closest('.item [aria-expanded="false"]') : null;
    };
    const leave = () => {
      placed.current = { ...placed.current, isLeft: true };
    };
    const onWheel = ({ deltaY }: WheelEvent) => {
      if (deltaY !== 0) state.current.isPulled = deltaY < 0;
    };
    const onTouch = () => {
      state.current.isPulled = true;
    };
    const observer = new ResizeObserver(followEnd);
    for (const gesture of LEAVING) area.addEventListener(gesture, leave, { passive: true });
    // Before the card itself is told, which changes the attribute.
    area.addEventListener('click', onClick, { capture: true });
    area.addEventListener('scroll', onScroll, { passive: true });
    area.addEventListener('wheel', onWheel, { passive: true });
    area.addEventListener('touchmove', onTouch, { passive: true });
    observer.observe(content.current);
    observer.observe(area);
    return () => {
      for (const gesture of LEAVING) area.removeEventListener(gesture, leave);
      area.removeEventListener('click', onClick, { capture: true });
      area.removeEventListener('scroll', onScroll);
      area.removeEventListener('wheel', onWheel);
      area.removeEventListener('touchmove', onTouch);
      observer.disconnect();
    };
  }, []);

  const jump = () => {
    follow(true);
    toEnd();
    scroller.current?.focus({ preventScroll: true });
  };
  return { scroller, content, following, jump, stay: () => follow(false) };
}

/** Scrolls so that as much of the opened card as possible is visible, and its head in any case. False: not all of it. */
function showFromHead(area: HTMLElement, head: Element): boolean {
  const view = area.getBoundingClientRect();
  const end = (head.closest('.item') ?? head).getBoundingClientRect().bottom;
  const room = head.getBoundingClientRect().top - view.top - CARD_MARGIN;
  const below = end - view.bottom;
  if (below > 0) area.scrollTop += Math.max(0, Math.min(below, room));
  return below <= room;
}
