// The program that reads the text of one PDF: gets the file on its input and prints a line of JSON for each page. It is a
// process of its own, because a hostile file may take all time and memory.
import { getDocument } from 'unpdf/pdfjs';
import { type PdfLine } from '../tools/files/pdfText.ts';

const MOST_PAGES = 1000;
/** A page of a book has about 3,000. */
const MOST_OF_A_PAGE = 100_000;
const MOST_CHARACTERS = 2_000_000;

async function main(): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  const document = await getDocument({
    data: new Uint8Array(Buffer.concat(pieces)),
    verbosity: 0,
    disableFontFace: true,
    useSystemFonts: false,
  }).promise;
  const pages = document.numPages;
  let left = MOST_CHARACTERS;
  for (let number = 1; number <= Math.min(pages, MOST_PAGES) && left > 0; number += 1) {
    const text = await textOf(document, number);
    const shown = text.slice(0, Math.min(left, MOST_OF_A_PAGE));
    print({ pages, text: shown, cut: shown.length < text.length });
    left -= shown.length;
  }
}

/** A damaged page counts as one without text. */
async function textOf(document: Awaited<ReturnType<typeof getDocument>['promise']>, number: number): Promise<string> {
  try {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    const parts = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''));
    return parts.join('').trim();
  } catch {
    return '';
  }
}

function print(line: PdfLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

main().catch((error: unknown) => {
  print({ fault: error instanceof Error && error.name === 'PasswordException' ? 'password' : 'damaged' });
});
