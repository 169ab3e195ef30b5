// The texts of instructions that came or changed after the prefix was frozen, as messages with the user's authority.
import { differenceOf } from '../files/difference.ts';
import { type Snapshots } from '../ports/storage.ts';
import { type RequestConfig } from '../ports/producers.ts';
import { bodyOf, type Instruction } from './instructions.ts';

/** A longer diff is replaced by the whole text. */
const SHOWN = { lines: 40, characters: 2000 };
/** Limits since the last compaction: texts of one file, and characters of all texts. */
const MOST_TEXTS = 5;
const MOST_CHARACTERS = 100_000;

const LAST = '(Later changes of these instructions are reported without their text.)';

interface Sent {
  timesSent(name: string): number;
  readonly sentCharacters: number;
}

export interface LaterText {
  readonly name: string;
  readonly text: string;
}

/** `known`: the instructions that the model has. Instructions beyond the limits are left out. */
export async function laterTexts(
  known: RequestConfig['instructions'],
  now: readonly Instruction[],
  hashOf: (text: string) => string,
  sent: Sent,
  snapshots: Pick<Snapshots, 'get'>,
): Promise<LaterText[]> {
  const before = new Map(known.map(({ name, hash }) => [name, hash]));
  const texts: LaterText[] = [];
  let room = MOST_CHARACTERS - sent.sentCharacters;
  for (const { name, text } of now) {
    const old = before.get(name);
    const times = sent.timesSent(name);
    if (old === hashOf(text) || times >= MOST_TEXTS) continue;
    const whole = old === undefined ? text.trim() : await changed(old, name, text, snapshots);
    const said = times === MOST_TEXTS - 1 ? `${whole}\n${LAST}` : whole;
    room -= said.length;
    if (room < 0) break;
    texts.push({ name, text: said });
  }
  return texts;
}

async function changed(old: string, name: string, text: string, snapshots: Pick<Snapshots, 'get'>): Promise<string> {
  const bytes = await snapshots.get(old);
  const before = bytes && `${bodyOf(new TextDecoder().decode(bytes))}\n`;
  const difference = before === undefined ? undefined : differenceOf(before, `${bodyOf(text)}\n`, SHOWN);
  const head = (text.trim().split('\n', 1)[0] ?? name).replace(/:$/, '');
  if (difference?.diff === undefined) return `${head}, changed. This replaces what they were:\n${bodyOf(text)}`;
  return `${head}, changed (+${difference.added} −${difference.removed}):\n${difference.diff}`;
}
