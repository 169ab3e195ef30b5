// Finds which text of a call stands verbatim in what the conversation received from outside, and was neither written by
// the user, nor shown from a file of the workspace, nor used by a call before.
import { defined } from '../../base/json/defined.ts';
import { SHORTEST_PART, VerbatimSearch } from '../../base/patterns/verbatim.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type TextOrigin } from '../../protocol/page/textOrigin.ts';
import { type Settings } from '../../protocol/settings.ts';
import { FROM_THE_BEGINNING, type OutsideText } from '../conversation/outside/outsideTexts.ts';
import { type TextsOf } from '../conversation/outside/outsideTree.ts';
import { type Touched } from '../ports/ports.ts';
import { type Workspace } from '../ports/workspace.ts';
import { addressesIn, commandsIn, type NamedText, pathsOf, stringsIn } from './callTexts.ts';
import { type ShellSyntax } from './shell/script.ts';

const MOST_MARKS = 10;
const LONGEST_TEXT = 300;
/** A part may name several files of the workspace. */
const INSIDE_PATH = /[\w@.+\-/\\]+/g;
const MOST_PATHS = 50;

export interface OriginDeps {
  readonly workspace: Workspace;
  readonly shell: ShellSyntax;
  /** What the user wrote elsewhere, such as in settings. */
  readonly ofUser: readonly string[];
}

/** Whether only a person may approve a call with these texts. */
export function needsPerson(
  origins: readonly TextOrigin[],
  { 'approvals.outsideText': outsideText }: Pick<Settings, 'approvals.outsideText'>,
): boolean {
  return outsideText === 'ask' && origins.some(({ kind }) => kind !== 'text');
}

type Received = OutsideText & Pick<TextsOf, 'conversation'>;

/** A text of the call that stands in one from outside, the oldest that has it. */
interface Mark {
  readonly text: string;
  readonly kind: TextOrigin['kind'];
  readonly from: Received;
}

export async function findOrigins(
  deps: OriginDeps,
  { values, touched }: { readonly values: unknown; readonly touched: Touched },
  tree: readonly TextsOf[],
): Promise<readonly TextOrigin[]> {
  const received = tree.flatMap(({ texts, conversation }) =>
    texts.received.map((one): Received => ({ ...one, ...defined({ conversation }) })),
  );
  if (received.length === 0) return [];
  const strings = stringsIn(values);
  const { outside, inside } = await pathsOf(deps.workspace, touched, strings, deps.shell);
  const lines = [touched.command, touched.input].filter((line) => line !== undefined);
  const ofWorkspace = new Set(inside);
  const names = [...lines.flatMap(commandsIn), ...addressesIn(strings), ...outside].filter(
    ({ text }) => !ofWorkspace.has(text),
  );
  const matches = new Matches(strings, names);
  for (const one of received.toSorted((a, b) => a.order - b.order)) matches.scanOutside(one);
  if (matches.isEmpty) return [];
  for (const { values: own, order } of ownTexts(deps, tree)) {
    for (const text of stringsIn(own)) matches.scanOwn(text, order);
  }
  for (const path of inside) matches.scanOwn(path, FROM_THE_BEGINNING);
  const parts = await withoutInsidePaths(deps.workspace, matches.parts());
  const ofCommands = parts.map((part): Mark => {
    const isCommand = lines.includes(strings[part.string] ?? '');
    return { text: part.text, from: part.from, kind: isCommand ? 'command' : 'text' };
  });
  return describeMarks([...ofCommands, ...matches.names()]);
}

function ownTexts({ ofUser }: OriginDeps, tree: readonly TextsOf[]) {
  return [
    { values: ofUser, order: FROM_THE_BEGINNING },
    ...tree.flatMap(({ texts, conversation }, index) => {
      const others = new Set(tree.flatMap((one, other) => (other === index ? [] : [...one.texts.changed])));
      const own = texts.own(others);
      // What another conversation knew, this one may still have from outside; but the user is the same.
      return conversation === undefined ? own : own.filter(({ order }) => order === FROM_THE_BEGINNING);
    }),
  ];
}

interface FoundPart {
  readonly text: string;
  readonly string: number;
  readonly from: Received;
}

/** What stands in the texts from outside, and when it was known otherwise. */
class Matches {
  readonly #strings: readonly string[];
  readonly #names: readonly NamedText[];
  /** Their texts, each once. */
  readonly #texts: readonly string[];
  readonly #search: VerbatimSearch;
  readonly #parts: { readonly start: number; readonly end: number; readonly from: Received }[] = [];
  /** By text, where it stands, and since when it is known otherwise. */
  readonly #outside = new Map<string, Received>();
  readonly #own = new Map<string, number>();
  /** Of each position of the strings, since when it is known otherwise. */
  readonly #known: Float64Array;

  constructor(strings: readonly string[], names: readonly NamedText[]) {
    this.#strings = strings;
    this.#names = names;
    this.#texts = [...new Set(names.map(({ text }) => text))];
    this.#search = new VerbatimSearch(strings, this.#texts);
    this.#known = new Float64Array(this.#search.size).fill(Infinity);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#outside.size === 0;
  }

  scanOutside(from: Received): void {
    this.#search.scan(from.text, {
      part: (start, end) => this.#parts.push({ start, end, from }),
      name: (index) => {
        const text = this.#texts[index] ?? '';
        if (!this.#outside.has(text)) this.#outside.set(text, from);
      },
    });
  }

  scanOwn(text: string, order: number): void {
    this.#search.scan(text, {
      part: (start, end) => {
        for (let at = start; at < end; at += 1) this.#known[at] = Math.min(this.#known[at] ?? Infinity, order);
      },
      name: (index) => {
        const known = this.#texts[index] ?? '';
        this.#own.set(known, Math.min(this.#own.get(known) ?? Infinity, order));
      },
    });
  }

  /** The named texts that are not known otherwise. */
  names(): Mark[] {
    return this.#names.flatMap(({ text, whole = text, kind }) => {
      const from = this.#outside.get(text);
      const known = Math.min(this.#own.get(text) ?? Infinity, this.#own.get(whole) ?? Infinity);
      return from === undefined || known < from.order ? [] : [{ text, kind, from }];
    });
  }

  /** What is left of the parts without what is known otherwise, each position once, for the oldest text. */
  parts(): FoundPart[] {
    const taken = new Uint8Array(this.#known.length);
    return this.#parts.flatMap(({ start, end, from }) => {
      const found: FoundPart[] = [];
      let begin = start;
      for (let at = start; at <= end; at += 1) {
        const isNew = at < end && taken[at] === 0 && (this.#known[at] ?? Infinity) >= from.order;
        if (isNew) {
          taken[at] = 1;
          continue;
        }
        if (at - begin >= SHORTEST_PART) found.push(this.#part(begin, at, from));
        begin = at + 1;
      }
      return found;
    });
  }

  #part(start: number, end: number, from: Received): FoundPart {
    const { string, start: first, end: last } = this.#search.original(start, end);
    return { string, from, text: (this.#strings[string] ?? '').slice(first, last).trim() };
  }
}

/** A path of the workspace says nothing about where the text comes from. */
async function withoutInsidePaths(workspace: Workspace, parts: readonly FoundPart[]): Promise<FoundPart[]> {
  const left: FoundPart[] = [];
  let resolved = 0;
  for (const part of parts) {
    const pieces = [part.text];
    for (const [path] of part.text.matchAll(INSIDE_PATH)) {
      if (resolved === MOST_PATHS) break;
      if (!/[/\\]/.test(path)) continue;
      resolved += 1;
      if (!(await workspace.resolve(path)).ok) continue;
      const last = pieces.pop() ?? '';
      const at = last.indexOf(path);
      pieces.push(last.slice(0, at), last.slice(at + path.length));
    }
    if (pieces.some((piece) => piece.trim().length >= SHORTEST_PART)) left.push(part);
  }
  return left;
}

/** Longer marks first; a mark inside another one of the same place only says of which kind that one is. */
function describeMarks(marks: readonly Mark[]): TextOrigin[] {
  const shown: Mark[] = [];
  for (const mark of marks.toSorted((a, b) => b.text.length - a.text.length)) {
    const around = shown.findIndex(({ text, from }) => from === mark.from && text.includes(mark.text));
    const outer = shown[around];
    if (outer === undefined) shown.push(mark);
    else if (outer.kind === 'text' || outer.text === mark.text) shown[around] = { ...outer, kind: mark.kind };
  }
  const rank = ({ kind }: Mark) => (kind === 'text' ? 1 : 0);
  return shown
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST_MARKS)
    .map(({ text, kind, from }) => ({
      text: text.length > LONGEST_TEXT ? `${wholeCharacters(text, LONGEST_TEXT)}…` : text,
      kind,
      source: from.source,
      item: from.item,
      ...defined({ conversation: from.conversation, call: from.call }),
    }));
}
