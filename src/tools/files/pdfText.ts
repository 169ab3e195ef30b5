// Reads the text of PDFs with the program of bin/pdfText.ts, which is ended after a time limit: a hostile file must not
// block this process.
import { spawn } from 'node:child_process';
import { defined } from '../../base/json/defined.ts';
import { countOf } from '../../base/text.ts';

const LONGEST_MILLISECONDS = 15_000;
const HEAP_MEGABYTES = 512;

/** What the program prints: one line for each page, or one about the file. */
export type PdfLine =
  | { readonly pages: number; readonly text: string; readonly cut: boolean }
  | { readonly fault: 'password' | 'damaged' };

/** The text with a heading for each page, or why there is none. */
type PdfText = { readonly text: string } | { readonly refused: string };

export type ReadPdf = (bytes: Uint8Array, signal: AbortSignal) => Promise<PdfText>;

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 5)).equals(Buffer.from('%PDF-'));
}

/** `program`: the script of `bin/pdfText.ts`. */
export function createPdfReader(program: string, milliseconds = LONGEST_MILLISECONDS): ReadPdf {
  return (bytes, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const { SystemRoot } = process.env;
      const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MEGABYTES}`, program], {
        // Nothing else of the environment: the program needs none of it.
        env: { ELECTRON_RUN_AS_NODE: '1', ...defined({ SystemRoot }) },
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
      let isLate = false;
      const output: Buffer[] = [];
      const end = () => child.kill('SIGKILL');
      const timer = setTimeout(() => {
        isLate = true;
        end();
      }, milliseconds);
      signal.addEventListener('abort', end, { once: true });
      child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
      // The program may end before it has read everything.
      child.stdin.on('error', () => undefined);
      child.stdin.end(bytes);
      child.once('error', reject);
      child.once('close', (code) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        if (signal.aborted) return reject(signal.reason as Error);
        // The last line is empty, or cut off by the end of the program.
        const lines = Buffer.concat(output).toString().split('\n').slice(0, -1);
        const stopped = isLate
          ? `reading took longer than ${milliseconds / 1000} s`
          : 'reading it took too much memory';
        resolve(
          describePdf(
            lines.map((line) => JSON.parse(line) as PdfLine),
            code === 0 ? undefined : stopped,
          ),
        );
      });
    });
}

/** `stopped`: why the program did not get to its end. */
function describePdf(lines: readonly PdfLine[], stopped: string | undefined): PdfText {
  const read = lines.filter((line) => 'text' in line);
  const [first] = read;
  if (first === undefined) {
    const [fault] = lines.filter((line) => 'fault' in line);
    if (fault?.fault === 'password') return { refused: 'is a PDF that is protected by a password' };
    return { refused: stopped === undefined ? 'is a damaged PDF' : `is a PDF whose text cannot be read: ${stopped}` };
  }
  const { pages } = first;
  const rest = pages - read.length;
  const left = rest === 0 ? '' : ` ${countOf(rest, 'page')} not read${stopped === undefined ? '' : `: ${stopped}`}.`;
  if (read.every(({ text }) => text === ''))
    return {
      refused: `is a PDF of ${countOf(pages, 'page')} without text, probably scanned.${left}`.replace(/\.$/, ''),
    };
  const parts = read.map(({ text, cut }, index) => {
    const body =
      text === '' ? '(no text on this page)' : `${text}${cut ? '\n(The rest of this page is left out.)' : ''}`;
    return `--- Page ${index + 1} of ${pages} ---\n${body}`;
  });
  return { text: [...parts, ...(left === '' ? [] : [`(${left.trim()})`])].join('\n\n') };
}
