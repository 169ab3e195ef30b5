// Expands braces as bash and zsh do: `a{b,c}` is `ab ac`.
import { type Part, type Word } from './script.ts';

/** Words with more results, more braces or more characters are not expanded and count as uncertain. */
const MOST = 200;
const MOST_BRACES = 8;
const LONGEST = 4096;
const SEQUENCE = /^(?:-?\d+|[A-Za-z])\.\.(?:-?\d+|[A-Za-z])(?:\.\.-?\d+)?$/;

interface Character {
  readonly text: string;
  /** Set for a quoted or unknown part: one piece that braces do not split. */
  readonly part?: Part;
}

/** The result includes the unexpanded word, because some shells do not expand braces. Undefined: not certain. */
export function expandBraces(word: Word): readonly Word[] | undefined {
  const characters = word.flatMap((part): Character[] =>
    part.type === 'text' && !part.quoted ? Array.from(part.text, (text) => ({ text })) : [{ text: '', part }],
  );
  const braces = characters.filter(({ text }) => text === '{').length;
  if (braces === 0) return [word];
  if (braces > MOST_BRACES || characters.length > LONGEST) return undefined;
  const open: number[] = [];
  for (const [index, { text }] of characters.entries()) {
    if (text === '{') open.push(index);
    const start = text === '}' ? open.pop() : undefined;
    if (start === undefined || open.length > 0) continue;
    const inner = characters.slice(start + 1, index);
    const choices = choicesOf(inner);
    if (choices === undefined) return undefined;
    if (choices.length === 0) continue;
    const before = characters.slice(0, start);
    const rest = characters.slice(index + 1);
    const made: Word[] = [word];
    for (const choice of choices) {
      const expanded = expandBraces(toWord([...before, ...choice, ...rest]));
      if (expanded === undefined || made.length + expanded.length > MOST) return undefined;
      made.push(...expanded);
    }
    return made;
  }
  return open.length > 0 ? undefined : [word];
}

/** Empty: the braces are ordinary characters. Undefined: not certain. */
function choicesOf(inner: readonly Character[]): Character[][] | undefined {
  const choices: Character[][] = [[]];
  let depth = 0;
  for (const character of inner) {
    if (character.text === '{') depth += 1;
    if (character.text === '}') depth -= 1;
    if (character.text === ',' && depth === 0) choices.push([]);
    else choices.at(-1)?.push(character);
  }
  if (choices.length > 1) return choices.length > MOST ? undefined : choices;
  const text = inner.map((character) => character.text).join('');
  if (!text.includes('..') && !text.includes('{')) return [];
  // The values of a sequence are only numbers or letters, which cannot change where the path leads.
  return SEQUENCE.test(text) && inner.every(({ part }) => part === undefined) ? [[{ text: '0' }]] : undefined;
}

function toWord(characters: readonly Character[]): Word {
  const parts: Part[] = [];
  let bare = '';
  const flush = () => {
    if (bare !== '') parts.push({ type: 'text', text: bare, quoted: false });
    bare = '';
  };
  for (const { text, part } of characters) {
    if (part === undefined) bare += text;
    else {
      flush();
      parts.push(part);
    }
  }
  flush();
  return parts;
}
