// Reads the bodies of here-documents, which follow after the end of the line.
import { type Word } from './script.ts';

interface Expected {
  /** The line that ends the document. */
  readonly end: string;
  /** Nothing in the document is expanded. */
  readonly literal: boolean;
  /** Tabs at the beginning of its lines are removed. */
  readonly tabs: boolean;
  readonly into: Word[];
}

interface HereDocument extends Expected {
  /** `next`: the offset after the document; undefined if the document does not end. */
  read(text: string, from: number): { readonly body: string; readonly next?: number };
}

export class HereDocuments {
  #expected: HereDocument[] = [];

  get pending(): boolean {
    return this.#expected.length > 0;
  }

  expect(expected: Expected): void {
    this.#expected.push({ ...expected, read: (text, from) => readBody(expected, text, from) });
  }

  take(): readonly HereDocument[] {
    const expected = this.#expected;
    this.#expected = [];
    return expected;
  }
}

function readBody({ end, tabs }: Expected, text: string, from: number): { body: string; next?: number } {
  const lines: string[] = [];
  for (let at = from; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const stop = newline === -1 ? text.length : newline;
    const raw = text.slice(at, stop);
    const line = tabs ? raw.replace(/^\t+/, '') : raw;
    at = stop + 1;
    if (line === end) return { body: lines.join('\n'), next: Math.min(at, text.length) };
    lines.push(line);
  }
  return { body: '' };
}
