// Renders an answer: folded reasoning, streamed Markdown, and actions once it is complete.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Growing, wholeText } from '../growing.ts';
import type { AnswerItem } from '../state.ts';
import { strings } from '../strings/strings.ts';
import { CopyButton } from './copyButton.tsx';
import { Icon } from './icons.tsx';
import { GrowingText } from './markdown/growingText.tsx';
import { Markdown } from './markdown/markdown.tsx';
import { createMarkdownStream, type MarkdownStream, type MarkdownView } from './markdown/markdownStream.ts';

export function Answer({ item }: { readonly item: AnswerItem }) {
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
