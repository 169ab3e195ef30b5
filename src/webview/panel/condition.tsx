// Renders a condition in words, part by part: with what is known of each, or as a call asks for it.
import type { DueFact } from '../../protocol/page/handlesView.ts';
import type { Atom, Condition, Truth } from '../../protocol/wakes.ts';
import { Icon, type IconName } from '../render/icons.tsx';
import { visibleText } from '../render/visibleText.ts';
import { describeAtom, dueStrings as strings } from '../strings/dueStrings.ts';
import { formatMoment } from '../strings/moments.ts';
import { useWords } from '../strings/words.ts';

const TRUTH_ICONS: Record<Truth, IconName> = {
  yes: 'check',
  no: 'circle',
  unknown: 'question',
  never: 'circle-slash',
};
const DEEPEST = 8;

interface Properties {
  readonly part: Condition;
  /** Of the atoms in `part`, in their order; absent: it is not followed. */
  readonly facts?: readonly DueFact[];
}

export function ConditionParts({ part, facts }: Properties) {
  const group = partsOf(part);
  if (group === undefined) return <AtomLine atom={part as Atom} fact={facts && (facts[0] ?? UNKNOWN)} />;
  let from = 0;
  return (
    <div class="due-group">
      <p>{'all' in part ? strings.all : strings.any}:</p>
      <ul>
        {group.map((one, index) => (
          <li key={index}>
            <ConditionParts part={one} {...(facts && { facts: facts.slice(from, (from += countAtoms(one))) })} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const UNKNOWN: DueFact = { truth: 'unknown', evidence: '' };

function AtomLine({ atom, fact }: { readonly atom: Atom; readonly fact: DueFact | undefined }) {
  const inWords = useWords();
  return (
    <p class={`due-atom${fact === undefined ? '' : ` truth-${fact.truth}`}`}>
      {fact && <Icon name={TRUTH_ICONS[fact.truth]} />}
      {fact && <span class="hidden">{strings.truths[fact.truth]}: </span>}
      <span>
        {visibleText(describeAtom(atom, formatTime))}
        {fact && fact.evidence !== '' && <span class="due-evidence"> · {visibleText(inWords(fact.evidence))}</span>}
      </span>
    </p>
  );
}

/** Undefined: it is an atom. */
function partsOf(part: Condition): readonly Condition[] | undefined {
  return 'all' in part ? part.all : 'any' in part ? part.any : undefined;
}

function countAtoms(part: Condition): number {
  return partsOf(part)?.reduce((sum, one) => sum + countAtoms(one), 0) ?? 1;
}

/** A call may name a time of day. */
function formatTime(moment: string): string {
  return Number.isNaN(Date.parse(moment)) ? moment : formatMoment(moment);
}

/** Whether an argument, which may be anything, can be shown as a condition. */
export function isCondition(value: unknown, depth = 0): value is Condition {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return false;
  const entries: [string, unknown][] = Object.entries(value);
  const [first] = entries;
  if (first === undefined) return false;
  const [key, parts] = first;
  if (key === 'all' || key === 'any') {
    return entries.length === 1 && Array.isArray(parts) && parts.every((one) => isCondition(one, depth + 1));
  }
  return entries.every(([, one]) => typeof one === 'string' || typeof one === 'number') && isAtom(value as Atom);
}

function isAtom(atom: Atom): boolean {
  try {
    return typeof describeAtom(atom, (moment) => moment.trim()) === 'string';
  } catch {
    // An unknown kind or state.
    return false;
  }
}
