// Renders transcript items: each kind of item, and runs of finished calls of one kind as one row, such as
// `Read 32 files, 2 failed`. A rendering failure is limited to its item, whose text stays readable and can be copied.
import { Component, type ComponentChildren } from 'preact';
import { useId, useState, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useReveal } from '../cards/reveal.ts';
import { describeError, unreachable } from '../../base/errors.ts';
import { wholeText, type Growing } from '../growing.ts';
import { memo } from '../memo.ts';
import type { NoticeItem, PageItem, ToolItem, AnswerItem } from '../state.ts';
import { t } from '../strings/l10n.ts';
import { notificationStrings as ofNotifications } from '../strings/notificationStrings.ts';
import { strings } from '../strings/strings.ts';
import { transcriptStrings as ofTranscript } from '../strings/transcriptStrings.ts';
import { useWords } from '../strings/words.ts';
import { toolIcon } from '../toolTitle.ts';
import { type Actions, useActions } from './actions.ts';
import { CopyButton } from './copyButton.tsx';
import { Icon } from './icons.tsx';
import { Request } from './request.tsx';
import { ToolCard } from './toolCard.tsx';
import { GrowingText } from './markdown/growingText.tsx';
import { Markdown } from './markdown/markdown.tsx';
import { RequestButton } from './requestButton.tsx';
import { createMarkdownStream, type MarkdownStream, type MarkdownView } from './markdown/markdownStream.ts';

/** Fewer calls are not grouped. */
const LEAST = 3;
/** A failed item is rendered again when it changes, but not for each piece of a long answer. */
const MOST_TRIES = 3;

export const ItemChunk = memo(function ItemChunk({ chunk }: { readonly chunk: readonly PageItem[] }) {
  return groupCalls(chunk).map((run) =>
    run.type === 'one' ? (
      <Item key={run.item.id} item={run.item} />
    ) : (
      <ToolGroup key={run.items[0]?.id} items={run.items} />
    ),
  );
});

type Run =
  | { readonly type: 'one'; readonly item: PageItem }
  | { readonly type: 'group'; readonly items: readonly ToolItem[] };

/** Groups neighbouring calls of the same tool that have ended, changed no file and carried no notification. */
export function groupCalls(items: readonly PageItem[]): Run[] {
  const runs: Run[] = [];
  let open: ToolItem[] = [];
  const close = () => {
    if (open.length >= LEAST) runs.push({ type: 'group', items: open });
    else for (const item of open) runs.push({ type: 'one', item });
    open = [];
  };
  for (const item of items) {
    if (!isQuiet(item)) {
      close();
      runs.push({ type: 'one', item });
      continue;
    }
    if (open[0] !== undefined && open[0].name !== item.name) close();
    open.push(item);
  }
  close();
  return runs;
}

function isQuiet(item: PageItem): item is ToolItem {
  if (item.type !== 'tool' || (item.state !== 'done' && item.state !== 'failed')) return false;
  return item.carried === undefined && item.changes === undefined && item.question === undefined;
}

function ToolGroup({ items }: { readonly items: readonly ToolItem[] }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  useReveal(
    items.map((item) => item.id),
    () => setOpen(true),
  );
  const name = items[0]?.name ?? '';
  const failed = items.filter(({ state }) => state === 'failed').length;
  const title = ofTranscript.groupTitle(name, items.length, failed);
  return (
    <div class="item">
      <section class={`tool tool-group ${failed > 0 ? 'state-failed' : 'state-done'}`} aria-label={title}>
        <button type="button" class="tool-head" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'chevron-down' : 'chevron-right'} />
          <Icon name={toolIcon(name)} />
          <span class="tool-title">{title}</span>
          <span class="tool-state">
            <Icon name={failed > 0 ? 'error' : 'check'} />
          </span>
        </button>
        <div id={id} hidden={!open} class="tool-group-items">
          {open && items.map((item) => <Item key={item.id} item={item} />)}
        </div>
      </section>
    </div>
  );
}

const Item = memo(function Item({ item }: { readonly item: PageItem }) {
  return (
    <div class={`item item-${item.type}`} data-item={item.id}>
      <ItemBoundary item={item}>
        <ItemBody item={item} />
      </ItemBoundary>
    </div>
  );
});

function ItemBody({ item }: { readonly item: PageItem }) {
  switch (item.type) {
    case 'request':
      return <Request item={item} />;
    case 'answer':
      return <Answer item={item} />;
    case 'tool':
      return <ToolCard item={item} />;
    case 'notice':
      return <Notice item={item} />;
    default:
      return unreachable(item);
  }
}

function Notice({ item }: { readonly item: NoticeItem }) {
  const actions = useActions();
  const inWords = useWords();
  const { action } = item;
  return (
    <div class={`notice level-${item.level}`}>
      <Icon name={item.level} />
      <div>
        <p>
          <span class="hidden">{ofNotifications.levels[item.level]}: </span>
          {inWords(item.text, item.failure)}
        </p>
        {item.nextStep !== undefined && <p class="next-step">{inWords(item.nextStep)}</p>}
        {action !== undefined && actions.offers(action.message.type) && (
          <button type="button" class="secondary" onClick={() => actions.post(action.message)}>
            {t(action.label)}
          </button>
        )}
      </div>
    </div>
  );
}

interface BoundaryProperties {
  readonly item: PageItem;
  readonly children: ComponentChildren;
}

function ItemBoundary({ item, children }: BoundaryProperties) {
  const { post } = useActions();
  return (
    <Boundary item={item} post={post}>
      {children}
    </Boundary>
  );
}

interface Failures {
  readonly failed: PageItem | null;
  readonly count: number;
}

class Boundary extends Component<BoundaryProperties & { readonly post: Actions['post'] }, Failures> {
  override state: Failures = { failed: null, count: 0 };

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: this.props.item, count: this.state.count + 1 });
    const message = `an item of the transcript (${this.props.item.type}) could not be drawn: ${describeError(error)}`;
    this.props.post({ type: 'failed', message: message.slice(0, 10_000) });
  }

  override render(): ComponentChildren {
    const { item, children } = this.props;
    const { failed, count } = this.state;
    const again = failed !== item && count < MOST_TRIES;
    return failed === null || again ? children : <Undrawn item={item} />;
  }
}

function Undrawn({ item }: { readonly item: PageItem }) {
  return (
    <div class="notice level-error">
      <Icon name="error" />
      <div>
        <p>{strings.itemFailed}</p>
        <details>
          <summary>{strings.itemText}</summary>
          <pre tabIndex={0}>{rawTextOf(item)}</pre>
        </details>
        <CopyButton label={strings.copy} read={() => rawTextOf(item)} />
      </div>
    </div>
  );
}

export function rawTextOf(item: PageItem): string {
  switch (item.type) {
    case 'answer':
      return wholeText(item.text);
    case 'tool':
      return [`${item.name} ${JSON.stringify(item.arguments)}`, wholeText(item.output)].join('\n');
    case 'request':
      return item.text;
    case 'notice':
      return [item.text, item.nextStep ?? ''].join('\n').trim();
  }
}

function Answer({ item }: { readonly item: AnswerItem }) {
  const view = useMarkdown(item.text, !item.streaming);
  const empty = item.text.length === 0;
  return (
    <article class="answer" aria-label={strings.earshot} aria-busy={item.streaming}>
      {item.reasoning.length > 0 && <Reasoning text={item.reasoning} active={item.streaming && empty} />}
      {empty && item.streaming && item.reasoning.length === 0 ? <Working /> : <Markdown view={view} />}
      {item.truncated && (
        <p class="cut">
          <Icon name="warning" /> {strings.truncated}
        </p>
      )}
      {!item.streaming && !empty && (
        <div class="answer-actions">
          <CopyButton label={strings.copyAnswer} read={() => wholeText(item.text)} />
          <RequestButton item={item.id} />
        </div>
      )}
    </article>
  );
}

interface Reader {
  readonly stream: MarkdownStream;
  pieces: readonly string[];
  count: number;
  length: number;
  finished: boolean;
}

function useMarkdown(text: Growing, finished: boolean): MarkdownView {
  const reader = useRef<Reader | null>(null);
  return useMemo(() => {
    reader.current = readerFor(reader.current, text);
    const current = reader.current;
    current.stream.append(text.pieces.slice(current.count, text.count).join(''));
    current.count = text.count;
    current.length = text.length;
    if (finished && !current.finished) current.stream.finish();
    current.finished = finished;
    return current.stream.view();
  }, [text, finished]);
}

/** Keeps the reader if the text only grew, also if the host sent the whole text again. */
function readerFor(reader: Reader | null, text: Growing): Reader {
  const fresh = () => ({ stream: createMarkdownStream(), pieces: text.pieces, count: 0, length: 0, finished: false });
  if (reader === null) return fresh();
  if (reader.pieces === text.pieces && reader.count <= text.count) {
    return reader.finished && reader.count < text.count ? fresh() : reader;
  }
  const known = reader.pieces.slice(0, reader.count).join('');
  if (reader.finished || !wholeText(text).startsWith(known)) return fresh();
  reader.stream.append(wholeText(text).slice(known.length));
  reader.pieces = text.pieces;
  reader.count = text.count;
  return reader;
}

export function Working() {
  return (
    <p class="working">
      <Icon name="loading" /> {strings.working}
    </p>
  );
}

function Reasoning({ text, active }: { readonly text: Growing; readonly active: boolean }) {
  const [open, setOpen] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (active && body.current !== null) body.current.scrollTop = body.current.scrollHeight;
  }, [text, active, open]);
  return (
    <div class="reasoning">
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        <span>{active ? strings.thinking : strings.thought}</span>
        {active && <Icon name="loading" />}
      </button>
      {open && (
        <div class="reasoning-text" ref={body} tabIndex={0} role="group" aria-label={strings.thought}>
          <GrowingText text={text} />
        </div>
      )}
    </div>
  );
}
