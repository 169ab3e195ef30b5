// Computes what a file was right before and right after an edit of an agent's tool, from the arguments and the result of
// the tool and the file's present text. Pure: no time is involved, so that changes by others are told apart for sure.
import { defined } from '../../base/json/defined.ts';
import { parsePatch } from '../../core/files/patch.ts';

/** The content of one edit, as far as the agent names it. */
export interface ToolEdit {
  /** The file before the edit. */
  readonly original?: string;
  /** The whole file after the edit. */
  readonly content?: string;
  readonly replacements?: readonly Replacement[];
}

interface Replacement {
  readonly from: string;
  readonly to: string;
  readonly all?: boolean;
}

/** Absent: it is not known, or (`after`) it is the present text. */
export interface EditStates {
  readonly before?: string;
  readonly after?: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the edit of a tool that names one file. */
export function readToolEdit(given: Fields, result: Fields | undefined): ToolEdit {
  const original = text(result, 'originalFile') ?? text(result, 'original_file');
  const content = text(result, 'updated_file') ?? text(given, 'content');
  const several: readonly unknown[] = Array.isArray(given['edits']) ? given['edits'] : [given];
  const replacements = several.map(readReplacement);
  const areKnown = replacements.every((one) => one !== undefined);
  return {
    ...defined({ original, content }),
    ...(areKnown && replacements.length > 0 && { replacements }),
  };
}

/** Reads the edits of a patch, by path. */
export function readPatchEdits(patch: string): ReadonlyMap<string, ToolEdit> {
  const parsed = parsePatch(patch);
  const edits = new Map<string, ToolEdit>();
  for (const file of parsed.ok ? parsed.value : []) {
    if (file.type !== 'update') continue;
    const side = (lines: (typeof file.hunks)[number]['lines'], but: '-' | '+') =>
      lines.flatMap((line) => (line.sign === but ? [] : `${line.text}\n`)).join('');
    edits.set(file.to ?? file.path, {
      replacements: file.hunks.map(({ lines }) => ({ from: side(lines, '+'), to: side(lines, '-') })),
    });
  }
  return edits;
}

export function statesAround(edit: ToolEdit, present: string): EditStates {
  const now = plain(present);
  const like = (one: string) => withEndsOf(present, one);
  if (edit.original !== undefined) {
    const original = plain(edit.original);
    const after = edit.content === undefined ? replaceAllOf(original, edit.replacements) : plain(edit.content);
    return { before: like(original), ...(after !== undefined && after !== now && { after: like(after) }) };
  }
  if (edit.content !== undefined) {
    const after = plain(edit.content);
    return after === now ? {} : { after: like(after) };
  }
  const before = undoAllOf(now, edit.replacements);
  return before === undefined ? {} : { before: like(before) };
}

function replaceAllOf(original: string, replacements: readonly Replacement[] | undefined): string | undefined {
  let text: string | undefined = replacements && original;
  for (const { from, to, all } of replacements ?? []) {
    if (text === undefined || (from !== '' && !text.includes(from))) return undefined;
    text = all === true ? text.replaceAll(from, () => to) : text.replace(from, () => to);
  }
  return text;
}

/** Undefined if it is not certain which text was replaced. */
function undoAllOf(now: string, replacements: readonly Replacement[] | undefined): string | undefined {
  let text: string | undefined = replacements && now;
  for (const { from, to } of replacements?.toReversed() ?? []) {
    const at = to === '' ? -1 : (text?.indexOf(to) ?? -1);
    if (text === undefined || at === -1 || text.includes(to, at + 1)) return undefined;
    text = text.slice(0, at) + from + text.slice(at + to.length);
  }
  return text;
}

function readReplacement(value: unknown): Replacement | undefined {
  const fields = typeof value === 'object' && value !== null ? (value as Fields) : {};
  const from = text(fields, 'old_string') ?? text(fields, 'oldString');
  const to = text(fields, 'new_string') ?? text(fields, 'newString');
  if (from === undefined || to === undefined) return undefined;
  return { from: plain(from), to: plain(to), all: fields['replace_all'] === true };
}

/** Agents name texts with plain line ends and without a byte order mark. */
function plain(one: string): string {
  return one.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

function withEndsOf(present: string, one: string): string {
  const ends = present.includes('\r\n') ? one.replaceAll('\n', '\r\n') : one;
  return present.startsWith('\uFEFF') ? `\uFEFF${ends}` : ends;
}

function text(fields: Fields | undefined, name: string): string | undefined {
  const value = fields?.[name];
  return typeof value === 'string' ? value : undefined;
}
