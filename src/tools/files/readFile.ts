// The tool read_file: shows a text file, or a range of its lines, with unsaved changes; the text of a PDF; or an image.
import { countLines } from '../../core/files/editBudget.ts';
import * as z from 'zod';
import { readImageSize } from '../../base/imageSize.ts';
import { defined } from '../../base/json/defined.ts';
import { printPath } from '../../base/printPath.ts';
import { countOf, wholeCharacters } from '../../base/text.ts';
import { type Tool } from '../../core/ports/ports.ts';
import { answer, defineTool, refuse } from '../defineTool.ts';
import { isPdf, type ReadPdf } from './pdfText.ts';

const LINES_AT_ONCE = 1000;
const CHARACTERS_AT_ONCE = 28_000;

/** Without `readPdf`, a PDF is refused like any other binary file. */
export function createReadFileTool(readPdf?: ReadPdf): Tool {
  return defineTool({
    name: 'read_file',
    description:
      'Reads a text file of the workspace, including unsaved changes in the editor, the text of a PDF, or an image (PNG, JPEG, GIF, WebP). Of a text it returns at most 1000 lines or 28,000 characters; continue with first_line. You are notified when the file changes later. To find text in many files use search.',
    effect: 'read',
    traits: { restOf: ['file'] },
    arguments: {
      path: z.string().min(1).describe('Path relative to the workspace, for example src/app.ts'),
      first_line: z.int().min(1).optional().describe('First line to return, counted from 1; default 1'),
      last_line: z.int().min(1).optional().describe('Last line to return; default: the end of the file'),
    },
    touches: ({ path }) => ({ paths: [path] }),
    run: async ({ path, first_line: first = 1, last_line: last }, { workspace, signal }) => {
      if (last !== undefined && last < first)
        return refuse('bad_arguments', `last_line: ${last} is before first_line ${first}.`);
      const file = await workspace.resolve(path);
      if (!file.ok) return refuse(file.failure);
      const content = await workspace.read(file.value);
      if (!content.ok) return refuse(content.failure);
      const { bytes, unsaved } = content.value;
      const image = readImageSize(bytes);
      if (image !== undefined) {
        const { mediaType } = image;
        return { content: '', isError: false, media: [{ mediaType, bytes, name: file.value.path }] };
      }
      const pdf = readPdf !== undefined && isPdf(bytes) ? await readPdf(bytes, signal) : undefined;
      if (pdf !== undefined && 'refused' in pdf)
        return refuse('not_text', `${printPath(file.value.path)} ${pdf.refused} (${bytes.length} bytes).`);
      const text = pdf?.text ?? (await workspace.decode(file.value, bytes));
      if (text === undefined)
        return refuse('not_text', `${printPath(file.value.path)} is not a text file (${bytes.length} bytes).`);
      const part = cutLines(text, first, last);
      if (part === undefined)
        return refuse(
          'no_line',
          `first_line: ${printPath(file.value.path)} has only ${countOf(countLines(text), 'line')}.`,
        );
      const notes = [
        ...(unsaved
          ? [`(${printPath(file.value.path)} has unsaved changes in the editor; this is how it looks there.)`]
          : []),
        part.text,
        ...(part.cut === undefined ? [] : [`(Line ${part.cut} is too long to show whole: search can look into it.)`]),
        ...(part.next === undefined ? [] : [`(It goes on: first_line ${part.next}.)`]),
      ];
      // Later changes of a PDF are not reported: there is no text to compare.
      if (pdf !== undefined) return answer(notes.join('\n'));
      // Later changes are reported even for lines that were not shown, but replacing the file requires that all were
      // seen.
      const shown = part.whole ? {} : { part: { ranges: part.range, of: part.of } };
      return { ...answer(notes.join('\n')), seen: [{ file: file.value, bytes, ...shown }] };
    },
  });
}

export const readFileTool = createReadFileTool();

interface Part {
  readonly text: string;
  /** The lines that are shown completely; empty if the only line is cut. */
  readonly range: [number, number][];
  readonly of: number;
  readonly whole: boolean;
  /** Number of the cut line. */
  readonly cut?: number;
  readonly next?: number;
}

/** Splits only the wanted lines, since a file may be very long. */
function cutLines(text: string, first: number, last: number | undefined): Part | undefined {
  const of = countLines(text);
  if (first > of) return undefined;
  const start = startOfLine(text, first);
  let line = first;
  let end = endOfLine(text, start);
  const wanted = Math.min(of, last ?? of, first - 1 + LINES_AT_ONCE);
  while (line < wanted && endOfLine(text, end + 1) - start <= CHARACTERS_AT_ONCE) {
    end = endOfLine(text, end + 1);
    line += 1;
  }
  const isCut = end - start > CHARACTERS_AT_ONCE;
  const shown = isCut ? `${wholeCharacters(text.slice(start, end), CHARACTERS_AT_ONCE)}…` : text.slice(start, end);
  const next = line < (last ?? of) && line < of ? line + 1 : undefined;
  return {
    text: shown,
    range: isCut ? [] : [[first, line]],
    of,
    whole: first === 1 && line === of && !isCut,
    ...(isCut && { cut: line }),
    ...defined({ next }),
  };
}

function startOfLine(text: string, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count += 1) start = text.indexOf('\n', start) + 1;
  return start;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end === -1 ? text.length : end;
}
