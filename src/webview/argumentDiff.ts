// Derives a diff from the arguments of a call that changes files, to be shown before it runs and while it streams.
import type { DiffHunk, FileDiff } from '../protocol/page/diffView.ts';
import { strings } from './strings/strings.ts';

type Values = Readonly<Record<string, unknown>>;

/** Undefined for calls whose arguments contain no changes. The diff contains every change in them. */
export function argumentDiff(name: string, values: Values): FileDiff[] | undefined {
  const path = textOrNothing(values['path']);
  if (name === 'apply_patch')
    return textOrNothing(values['input']) === undefined ? undefined : patchFiles(textOrNothing(values['input']) ?? '');
  if (path === undefined) return undefined;
  if (name === 'write_file') {
    const content = textOrNothing(values['content']);
    return content === undefined ? undefined : [fileOf(path, [hunkOf(linesOf(content, '+'))])];
  }
  if (name !== 'edit_file' || !Array.isArray(values['edits'])) return undefined;
  return [fileOf(path, values['edits'].flatMap(editHunk))];
}

function editHunk(edit: unknown): DiffHunk[] {
  if (typeof edit !== 'object' || edit === null) return [];
  const { old_text: before, new_text: after, replace_all: all } = edit as Values;
  const lines = [...linesOf(textOrNothing(before) ?? '', '-'), ...linesOf(textOrNothing(after) ?? '', '+')];
  return [hunkOf(all === true ? [...lines, `\\${strings.diffEverywhere}`] : lines)];
}

const KINDS = new Map<string, FileDiff['kind']>([
  ['Add', 'created'],
  ['Update', 'changed'],
  ['Delete', 'deleted'],
]);

/** Parses the patch format of the tool apply_patch. */
function patchFiles(patch: string): FileDiff[] {
  const files: { path: string; kind: FileDiff['kind']; lines: string[] }[] = [];
  for (const line of patch.split('\n')) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line);
    const kind = KINDS.get(head?.[1] ?? '');
    if (head?.[2] !== undefined && kind !== undefined) files.push({ path: head[2], kind, lines: [] });
    else if (/^[-+ ]/.test(line)) files.at(-1)?.lines.push(line);
    else if (line !== '' && !/^\*\*\* (Begin|End) Patch$/.test(line)) files.at(-1)?.lines.push(`\\${line}`);
  }
  return files.map(({ path, kind, lines }) => ({ ...fileOf(path, lines.length === 0 ? [] : [hunkOf(lines)]), kind }));
}

/** The counts are unknown until the patch is compared with the file. */
function fileOf(path: string, hunks: readonly DiffHunk[]): FileDiff {
  return { path, kind: 'changed', added: 0, removed: 0, hunks };
}

/** The position in the file is not known yet. */
function hunkOf(lines: readonly string[]): DiffHunk {
  return { oldStart: 0, newStart: 0, lines };
}

function linesOf(text: string, sign: string): string[] {
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => sign + line);
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
