// Writes small PDFs for tests: pages with lines of text, or any other stream as a page's content.

export interface PdfPage {
  readonly lines?: readonly string[];
  /** The content stream, with its filter, instead of lines. */
  readonly content?: { readonly bytes: Buffer; readonly filter: string };
}

export function pdfFile(pages: readonly PdfPage[], trailer = ''): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ');
  const objects: Buffer[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ].map((text) => Buffer.from(text));
  for (const { lines = [], content } of pages) {
    const box = '/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>';
    objects.push(Buffer.from(`<< /Type /Page /Parent 2 0 R ${box} /Contents ${objects.length + 2} 0 R >>`));
    const shown = lines.map((line) => `(${line}) Tj 0 -14 Td`).join(' ');
    const bytes = content?.bytes ?? Buffer.from(`BT /F1 12 Tf 72 720 Td ${shown} ET`, 'latin1');
    const head = `<< /Length ${bytes.length} ${content === undefined ? '' : `/Filter /${content.filter}`} >>`;
    objects.push(Buffer.concat([Buffer.from(`${head}\nstream\n`), bytes, Buffer.from('\nendstream')]));
  }
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (part: Buffer) => {
    parts.push(part);
    length += part.length;
  };
  for (const [index, object] of objects.entries()) {
    offsets.push(length);
    add(Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]));
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  add(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}
