// The `@` and `/` pickers: a list above the composer, driven from the text field, which keeps the focus.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CompletionsMessage, CompletionView, Trigger } from '../../protocol/page/completionsView.ts';
import { composerStrings as strings } from '../strings/composerStrings.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';

const ASK_AFTER = 80;
const LONGEST_QUERY = 100;

interface Token {
  readonly trigger: Trigger;
  readonly query: string;
  readonly start: number;
}

/** The token being typed at the caret: `@` after a space or at the start, `/` only as the first character. */
export function tokenAt(text: string, caret: number): Token | undefined {
  const from = Math.max(0, caret - LONGEST_QUERY);
  const before = text.slice(from, caret);
  const word = /(?:^|\s)([@/][^\s@]*)$/.exec(before)?.[1];
  if (word === undefined) return undefined;
  const start = caret - word.length;
  const trigger = word[0] === '@' ? '@' : '/';
  if (trigger === '/' && (start !== 0 || word.indexOf('/', 1) !== -1)) return undefined;
  return { trigger, query: word.slice(1), start };
}

export interface Picker {
  readonly open: boolean;
  readonly items: readonly CompletionView[];
  readonly active: number;
  /** Whether to hint that files can also be dropped: while nothing is typed after `@` yet. */
  readonly hintsAtDrop: boolean;
  /** Returns whether the picker has handled the key. */
  onKey(event: KeyboardEvent): boolean;
  choose(index: number): void;
}

interface Options {
  readonly text: string;
  readonly caret: number;
  readonly completions: CompletionsMessage | null;
  /** Replaces a part of the text and puts the caret after it. */
  readonly replace: (start: number, end: number, text: string) => void;
}

export function usePicker({ text, caret, completions, replace }: Options): Picker {
  const { post, offers } = useActions();
  const token = tokenAt(text, caret);
  const [dismissed, setDismissed] = useState<number>();
  const [active, setActive] = useState(0);
  const key = token === undefined ? '' : `${token.trigger}${token.query}`;
  useEffect(() => {
    setActive(0);
    if (token === undefined || !offers('complete')) {
      setDismissed(undefined);
      return;
    }
    const { trigger, query } = token;
    const timer = setTimeout(() => post({ type: 'complete', trigger, query }), ASK_AFTER);
    return () => clearTimeout(timer);
  }, [key]);

  const fits = token !== undefined && completions?.trigger === token.trigger;
  const items = fits ? completions.items : [];
  const open = token !== undefined && items.length > 0 && dismissed !== token.start;
  const choose = (index: number) => {
    const item = items[index];
    if (item === undefined || token === undefined) return;
    const gap = /^\s/.test(text.slice(caret)) ? '' : ' ';
    // A mention keeps its place in the sentence, so that the model knows what is meant.
    const mention = token.trigger === '@' ? `@${item.mention ?? item.label}${gap}` : '';
    replace(token.start, caret, item.insert ?? mention);
    if (item.insert === undefined) post({ type: 'choose_completion', source: item.source, id: item.id });
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    const { length } = items;
    if (event.key === 'ArrowDown') setActive((active + 1) % length);
    else if (event.key === 'ArrowUp') setActive((active - 1 + length) % length);
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') choose(Math.min(active, length - 1));
    else if (event.key === 'Escape') setDismissed(token.start);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const hintsAtDrop = token?.trigger === '@' && token.query === '' && offers('attach_uris');
  return { open, items, active: Math.min(active, Math.max(0, items.length - 1)), hintsAtDrop, onKey, choose };
}

export const PICKER_ID = 'composer-picker';
export const optionId = (index: number) => `${PICKER_ID}-${index}`;

export function PickerList({ picker }: { readonly picker: Picker }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[picker.active]?.scrollIntoView({ block: 'nearest' });
  }, [picker.active]);
  if (!picker.open) return null;
  return (
    <div class="picker">
      <ul id={PICKER_ID} role="listbox" aria-label={strings.picker} ref={list}>
        {picker.items.map((item, index) => (
          <li
            key={`${item.source} ${item.id}`}
            id={optionId(index)}
            class="picker-item"
            role="option"
            aria-selected={index === picker.active}
            // The text field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => picker.choose(index)}
          >
            <Icon name={item.icon} />
            <span class="picker-label">{visibleText(item.label)}</span>
            <span class="picker-detail">{visibleText(item.detail)}</span>
          </li>
        ))}
      </ul>
      {picker.hintsAtDrop && <p class="picker-hint">{strings.dropShift}</p>}
    </div>
  );
}
