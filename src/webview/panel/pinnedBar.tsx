// The bar above the composer that shows what needs the user: several approvals, or an approval, question, error or
// conversation that is not visible.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatHead } from '../../protocol/webview.ts';
import { type Chunked } from '../chunked.ts';
import { notificationStrings as strings } from '../strings/notificationStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { firstRequest, takeFocusWhenIdle } from '../render/takeFocus.ts';
import { visibleText } from '../render/visibleText.ts';
import type { PageItem, ToolItem } from '../state.ts';
import { approvalStrings } from '../strings/approvalStrings.ts';
import { useWords } from '../strings/words.ts';
import { toolTitle } from '../toolTitle.ts';

interface Properties {
  readonly items: Chunked<PageItem>;
  readonly head: ChatHead;
  /** The element that contains the transcript. */
  readonly area: RefObject<HTMLElement | null>;
  /** How often the key for *Approve* was pressed. */
  readonly approveRequests: number;
}

/** A key or a click sooner after a request appeared was not meant for it. */
const SEEN_MILLISECONDS = 800;

export function PinnedBar({ items, head, area, approveRequests }: Properties) {
  const { post, focusComposer } = useActions();
  const inWords = useWords();
  const open = wantedItems(items);
  const [wanted] = open;
  const approvals = open.filter((item): item is ToolItem => item.type === 'tool' && item.state === 'approval');
  const hidden = useOutOfSight(area, wanted?.id);
  const button = useRef<HTMLButtonElement>(null);
  const pinned = wanted !== undefined && hidden;
  useEffect(() => {
    if (!pinned || button.current === null) return;
    return takeFocusWhenIdle(button.current, focusComposer);
  }, [pinned, wanted?.id]);

  const jump = () => {
    const element = area.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(wanted?.id ?? '')}"]`);
    element?.scrollIntoView({ block: 'start' });
    element?.querySelector<HTMLElement>('.approval')?.focus({ preventScroll: true });
  };
  const firstSince = useRef(0);
  useEffect(() => {
    firstSince.current = performance.now();
  }, [wanted?.id, hidden]);
  // The request for which the key or a button was pressed too early.
  const [early, setEarly] = useState<string>();
  useEffect(() => {
    if (approveRequests === 0 || wanted === undefined) return;
    if (performance.now() - firstSince.current < SEEN_MILLISECONDS) setEarly(wanted.id);
    // What is not visible is shown first.
    else if (hidden) jump();
    else firstRequest()?.querySelector<HTMLElement>('.approve')?.click();
  }, [approveRequests]);
  const isEarly = early !== undefined && early === wanted?.id;

  const several = approvals.length > 1;
  if (wanted !== undefined && (pinned || several || isEarly)) {
    return (
      <div class="pinned" role="status">
        {isEarly && (
          <p class="pinned-early" role="alert">
            {approvalStrings.tooEarly}
          </p>
        )}
        <button type="button" class="pinned-button" ref={button} title={strings.goThere} onClick={jump}>
          <Icon name={wanted.type === 'notice' ? 'error' : 'warning'} />
          <span class="pinned-text">
            {several ? approvalStrings.several(approvals.length, titleOf(approvals[0])) : describeItem(wanted, inWords)}
          </span>
          {hidden && <Icon name="arrow-down" />}
        </button>
        {several && <AllButtons approvals={approvals} tooEarly={() => setEarly(wanted.id)} />}
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

/** Answers all open approvals. The buttons are off until the user has had time to see the newest one. */
function AllButtons({
  approvals,
  tooEarly,
}: {
  readonly approvals: readonly ToolItem[];
  readonly tooEarly: () => void;
}) {
  const { post, conversation } = useActions();
  const ids = approvals.map(({ id }) => id);
  const [seen, setSeen] = useState<readonly string[]>([]);
  useEffect(() => {
    const timer = setTimeout(() => setSeen(ids), SEEN_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [ids.join(' ')]);
  const ready = ids.every((id) => seen.includes(id));
  // A call with a warning, such as for a protected file or for text from outside, is approved only on its own card.
  const plain = approvals.filter(({ approval }) => approval?.reason === undefined && approval?.origins === undefined);
  const allButton = (label: string, title: string, calls: readonly ToolItem[], action: 'approve' | 'reject') => (
    // Not `disabled`: that would take the focus away.
    <button
      type="button"
      class="secondary"
      aria-disabled={!ready}
      title={ready ? title : approvalStrings.justAppeared}
      onClick={() => {
        if (!ready) {
          tooEarly();
          return;
        }
        for (const { id, approval } of calls)
          post({ type: 'approve', conversation, tool_call_id: id, action, revision: approval?.revision });
      }}
    >
      {label}
    </button>
  );
  const { approveAll, approveAllTitle, rejectAll, rejectAllTitle } = approvalStrings;
  return (
    <div class="pinned-actions">
      {plain.length > 0 &&
        allButton(approveAll, approveAllTitle(plain.length, approvals.length - plain.length), plain, 'approve')}
      {allButton(rejectAll, rejectAllTitle(approvals.length), approvals, 'reject')}
    </div>
  );
}

/** The open requests of the last turn in their order; if there are none, the error at its end. */
function wantedItems(items: Chunked<PageItem>): readonly PageItem[] {
  const open: PageItem[] = [];
  let isLast = true;
  for (const chunk of items.chunks.toReversed()) {
    for (const item of chunk.toReversed()) {
      if (item.type === 'request' && item.meanwhile !== true) return open;
      if (item.type === 'tool' && (item.state === 'approval' || item.state === 'question')) open.unshift(item);
      if (isLast && item.type === 'notice' && item.level === 'error') open.unshift(item);
      isLast = false;
    }
  }
  return open;
}

function titleOf(item: ToolItem | undefined): string {
  return item === undefined ? '' : visibleText(toolTitle(item.name, item.arguments));
}

function describeItem(item: PageItem, inWords: ReturnType<typeof useWords>): string {
  if (item.type === 'notice') return strings.hasFailed(inWords(item.text, item.failure));
  if (item.type !== 'tool') return '';
  if (item.state === 'question') return strings.needsAnswer(visibleText(item.question?.text ?? ''));
  return strings.needsApproval(titleOf(item));
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
