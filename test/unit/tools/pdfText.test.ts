// read_file on PDFs, with the real program: pages, limits, and hostile files.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ToolContext } from '../../../src/core/ports/ports.ts';
import { createPdfReader } from '../../../src/tools/files/pdfText.ts';
import { createReadFileTool } from '../../../src/tools/files/readFile.ts';
import { pdfFile, type PdfPage } from '../../support/tools/pdfFile.ts';
import { createFolderWorkspace } from '../../support/workspace/folderWorkspace.ts';

const program = resolve(import.meta.dirname, '../../../src/bin/pdfText.ts');

/** Three million operators in a few kilobytes. */
const BOMB: PdfPage = {
  content: {
    bytes: deflateSync(Buffer.from(`BT /F1 1 Tf ${'(x) Tj '.repeat(3_000_000)} ET`)),
    filter: 'FlateDecode',
  },
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-pdf-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(bytes: Uint8Array, args: object = {}, options: { limit?: number; signal?: AbortSignal } = {}) {
  await writeFile(join(folder, 'a.pdf'), bytes);
  const tool = createReadFileTool(createPdfReader(program, options.limit));
  const parsed = tool.parse({ path: 'a.pdf', ...args });
  if (!parsed.ok) throw new Error(parsed.failure.message);
  const signal = options.signal ?? new AbortController().signal;
  // The tool uses nothing else of the context.
  return tool.run(parsed.value, { signal, workspace: createFolderWorkspace(folder) } as ToolContext);
}

test('the text of a PDF comes page by page, and its lines are read in parts', async () => {
  const bytes = pdfFile([{ lines: ['Warm the pot.', 'Then wait.'] }, {}, { lines: ['Pour.'] }]);
  const all = [
    ...['--- Page 1 of 3 ---', 'Warm the pot.', 'Then wait.', ''],
    ...['--- Page 2 of 3 ---', '(no text on this page)', '', '--- Page 3 of 3 ---', 'Pour.'],
  ];
  const whole = await read(bytes);
  expect(whole).toEqual({ content: all.join('\n'), isError: false });
  const part = await read(bytes, { first_line: 8, last_line: 9 });
  expect(part.content).toBe(all.slice(7).join('\n'));
});

test('a PDF without text is said to be scanned, and a damaged or protected one is named as such', async () => {
  expect((await read(pdfFile([{}, {}]))).content).toMatch(
    /^a\.pdf is a PDF of 2 pages without text, probably scanned \(\d+ bytes\)\.$/,
  );
  expect((await read(Buffer.from('%PDF-1.7 and no more'))).content).toBe('a.pdf is a damaged PDF (20 bytes).');
  const key = `<${'41'.repeat(32)}>`;
  const locked = pdfFile(
    [{ lines: ['secret'] }],
    `/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ${key} /U ${key} >> /ID [${key} ${key}]`,
  );
  expect((await read(locked)).content).toMatch(/^a\.pdf is a PDF that is protected by a password/);
});

test('pages beyond the limit are counted', async () => {
  const pages = Array.from({ length: 1003 }, (_, index): PdfPage => ({ lines: [`p${index + 1}`] }));
  const { content } = await read(pdfFile(pages), { first_line: 2995 });
  expect(content).toMatch(/--- Page 1000 of 1003 ---\np1000\n\n\(3 pages not read\.\)$/);
});

test('a PDF that takes too long is ended, what was read is shown, and this process is not blocked', async () => {
  const bombs = Array.from({ length: 20 }, () => BOMB);
  const bytes = pdfFile([{ lines: ['Before it.'] }, ...bombs, { lines: ['After it.'] }]);
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 10);
  const { content } = await read(bytes, {}, { limit: 3000 });
  clearInterval(timer);
  expect(content).toMatch(/^--- Page 1 of 22 ---\nBefore it\.\n/);
  expect(content).toMatch(/\(\d+ pages not read: reading took longer than 3 s\.\)$/);
  expect(content).not.toContain('After it.');
  expect(ticks).toBeGreaterThan(20);
});

test('a text that only mentions the format is shown as text', async () => {
  const text = 'A PDF begins with\n%PDF-1.7\n';
  expect((await read(Buffer.from(text))).content).toBe(text);
});

test('a cancelled call ends the program', async () => {
  const signal = AbortSignal.timeout(50);
  await expect(read(pdfFile([BOMB]), {}, { signal })).rejects.toThrow(/timeout/i);
});
