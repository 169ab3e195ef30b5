// The tool read_file: shows a text file, or some of its lines, as the editor has it.
import * as z from 'zod';
import { describeFailure } from '../base/errors.ts';
import { decodeText } from '../base/text.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

const LINES_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 28_000;

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace, with unsaved changes if it is open in an editor. You are told if it changes later. Long files come in parts: ask on with first_line.',
  effect: 'read',
  arguments: {
    path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
    first_line: z.int().min(1).optional().describe('First line wanted, counted from 1'),
    last_line: z.int().min(1).optional().describe('Last line wanted'),
  },
  touches: ({ path }) => ({ paths: [path] }),
  run: async ({ path, first_line: first = 1, last_line: last }, { workspace }) => {
    const file = await workspace.resolve(path);
    if (!file.ok) return refuse(describeFailure(file.failure));
    const content = await workspace.read(file.value);
    if (!content.ok) return refuse(describeFailure(content.failure));
    const { bytes, unsaved } = content.value;
    const text = decodeText(bytes);
    if (text === undefined) return refuse(`${file.value.path} is not a text file (${bytes.length} bytes).`);
    const part = cutLines(text, first, last);
    if (part === undefined) return refuse(`${file.value.path} has fewer than ${first} lines.`);
    const notes = [
      ...(unsaved ? [`(${file.value.path} has unsaved changes in the editor; this is how it looks there.)`] : []),
      part.text,
      ...(part.next === undefined ? [] : [`(It goes on: first_line ${part.next}.)`]),
    ];
    // A part that was shown is a view of the whole: any later change of the file is told.
    return { ...answer(notes.join('\n')), seen: [{ file: file.value, bytes }] };
  },
});

interface Part {
  readonly text: string;
  readonly next?: number;
}

function cutLines(text: string, first: number, last: number | undefined): Part | undefined {
  const lines = text.split('\n');
  if (first > lines.length) return undefined;
  const end = Math.min(lines.length, last ?? lines.length, first - 1 + LINES_AT_ONCE);
  let shown = lines.slice(first - 1, end).join('\n');
  let next = end < lines.length && end !== last ? end + 1 : undefined;
  if (shown.length > CHARACTERS_AT_ONCE) {
    shown = shown.slice(0, CHARACTERS_AT_ONCE);
    next = first + shown.split('\n').length - 1;
  }
  return next === undefined ? { text: shown } : { text: shown, next };
}
