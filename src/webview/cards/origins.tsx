// The lines of an approval about text that came from outside; the text is marked in what the card shows above them.
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TextOrigin } from '../../protocol/page/textOrigin.ts';
import { useActions } from '../render/actions.ts';
import { Icon } from '../render/icons.tsx';
import { rangesOf } from '../render/textMarks.ts';
import { visibleText } from '../render/visibleText.ts';
import { originStrings } from '../strings/originStrings.ts';
import { useWords } from '../strings/words.ts';

const MOST_SHOWN = 3;
const LONGEST_TEXT = 80;
const LONGEST_NAME = 120;
const MARK = 'outside';

interface Properties {
  readonly origins: readonly TextOrigin[];
  readonly card: RefObject<HTMLElement | null>;
}

/** Loaded with the first approval that has such a text. */
export function Origins({ origins, card }: Properties) {
  useMarks(card, origins);
  const { conversation, offers, post, showItem } = useActions();
  const inWords = useWords();
  const left = origins.length - MOST_SHOWN;
  const open = ({ conversation: other, item, text }: TextOrigin) => {
    if (other !== undefined && other !== conversation) post({ type: 'open_conversation', id: other });
    showItem(item, text);
  };
  return (
    <ul class="origins" aria-label={originStrings.title}>
      {origins.slice(0, MOST_SHOWN).map((origin) => {
        const line = describe(origin, inWords);
        const canOpen = origin.conversation === undefined || offers('open_conversation');
        return (
          <li key={`${origin.item} ${origin.text}`}>
            <Icon name="shield" />
            {canOpen ? (
              <button type="button" class="link" title={originStrings.show} onClick={() => open(origin)}>
                {line}
              </button>
            ) : (
              <span>{line}</span>
            )}
          </li>
        );
      })}
      {left > 0 && <li class="quiet">{originStrings.more(left)}</li>}
    </ul>
  );
}

function describe({ text, source, call, conversation }: TextOrigin, inWords: ReturnType<typeof useWords>): string {
  const name = [inWords(source.name), source.detail ?? ''].filter((part) => part !== '').join(' · ');
  const place = originStrings.place(source.type, visibleText(shortened(name, LONGEST_NAME)));
  const shown = visibleText(shortened(text.replace(/\s+/g, ' '), LONGEST_TEXT));
  const line = call === undefined ? originStrings.from(shown, place) : originStrings.fromCall(shown, place, call);
  return conversation === undefined ? line : originStrings.elsewhere(line);
}

/** Keeps the beginning and the end, where addresses differ. */
function shortened(text: string, most: number): string {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}`;
}

/** Marks the texts in the card, until the card is gone. */
function useMarks(card: RefObject<HTMLElement | null>, origins: readonly TextOrigin[]): void {
  useEffect(() => {
    if (card.current === null) return;
    const texts = origins.flatMap(({ text }) => visibleText(text.replace(/…$/, '')).split('\n'));
    const shown = [...card.current.querySelectorAll<HTMLElement>('.arguments')];
    const ranges = shown.flatMap((one) =>
      rangesOf(
        one,
        texts.map((text) => text.trim()),
      ),
    );
    const marked = CSS.highlights.get(MARK) ?? new Highlight();
    CSS.highlights.set(MARK, marked);
    for (const range of ranges) marked.add(range);
    return () => {
      for (const range of ranges) marked.delete(range);
    };
  });
}
