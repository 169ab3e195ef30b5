// The bar above the composer that shows what needs the user but is not visible: approval, question, error, or
// conversation.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatHead } from '../../protocol/webview.ts';
import { type Chunked } from '../chunked.ts';
import { notificationStrings as strings } from '../strings/notificationStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { takeFocusWhenIdle } from '../render/takeFocus.ts';
import { visibleText } from '../render/visibleText.ts';
import type { PageItem } from '../state.ts';
import { toolTitle } from '../toolTitle.ts';

interface Properties {
  readonly items: Chunked<PageItem>;
  readonly head: ChatHead;
  /** The element that contains the transcript. */
  readonly area: RefObject<HTMLElement | null>;
}

export function PinnedBar({ items, head, area }: Properties) {
  const { post, focusComposer } = useActions();
  const wanted = wantedItem(items);
  const hidden = useOutOfSight(area, wanted?.id);
  const button = useRef<HTMLButtonElement>(null);
  const pinned = wanted !== undefined && hidden;
  useEffect(() => {
    if (!pinned || button.current === null) return;
    return takeFocusWhenIdle(button.current, focusComposer);
  }, [pinned, wanted?.id]);

  if (pinned) {
    const jump = () => {
      const element = area.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(wanted.id)}"]`);
      element?.scrollIntoView({ block: 'center' });
      element?.querySelector<HTMLElement>('.approval, .question')?.focus();
    };
    return (
      <div class="pinned" role="status">
        <button type="button" class="pinned-button" ref={button} title={strings.goThere} onClick={jump}>
          <Icon name={wanted.type === 'notice' ? 'error' : 'warning'} />
          <span class="pinned-text">{describeItem(wanted)}</span>
          <Icon name="arrow-down" />
        </button>
      </div>
    );
  }
  const other = head.others.find(({ activity }) => activity === 'approval' || activity === 'question');
  if (other === undefined) return null;
  return (
    <div class="pinned" role="status">
      <button
        type="button"
        class="pinned-button"
        title={strings.goThere}
        onClick={() => post({ type: 'open_conversation', id: other.id })}
      >
        <Icon name="warning" />
        <span class="pinned-text">
          {other.subagent === undefined
            ? strings.otherNeeds(visibleText(other.title))
            : strings.subagentNeeds(visibleText(other.subagent))}
        </span>
        <Icon name="chevron-right" />
      </button>
    </div>
  );
}

/** The first open request of the last turn, or the error at its end. */
function wantedItem(items: Chunked<PageItem>): PageItem | undefined {
  let first: PageItem | undefined;
  let isLast = true;
  for (const chunk of items.chunks.toReversed()) {
    for (const item of chunk.toReversed()) {
      if (item.type === 'request' && item.meanwhile !== true) return first;
      if (item.type === 'tool' && (item.state === 'approval' || item.state === 'question')) first = item;
      if (isLast && item.type === 'notice' && item.level === 'error') first = item;
      isLast = false;
    }
  }
  return first;
}

function describeItem(item: PageItem): string {
  if (item.type === 'notice') return strings.hasFailed(item.text);
  if (item.type !== 'tool') return '';
  if (item.state === 'question') return strings.needsAnswer(visibleText(item.question?.text ?? ''));
  return strings.needsApproval(visibleText(toolTitle(item.name, item.arguments)));
}

function useOutOfSight(area: RefObject<HTMLElement | null>, id: string | undefined): boolean {
  const [hidden, setHidden] = useState(false);
  useEffect(() => {
    setHidden(false);
    const root = area.current;
    if (root === null || id === undefined) return;
    let watched: Element | null = null;
    const observer = new IntersectionObserver((entries) => setHidden(entries.at(-1)?.isIntersecting !== true), {
      root: root.querySelector('.scroller'),
    });
    // The item may be rendered later, or be in a part of the transcript that is not rendered.
    const watch = () => {
      const element = root.querySelector(`[data-item="${CSS.escape(id)}"]`);
      if (element === watched) return;
      observer.disconnect();
      watched = element;
      if (element !== null) observer.observe(element);
    };
    watch();
    const drawing = new MutationObserver(watch);
    drawing.observe(root, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      drawing.disconnect();
    };
  }, [id]);
  return hidden;
}
