// The user's message to the model about a background command. In English, since it is written for models.
import type { HandleView } from '../../protocol/page/handlesView.ts';

const SENT_OUTPUT = 2000;

export function askAboutHandle({ name, detail, output }: Pick<HandleView, 'name' | 'detail' | 'output'>): string {
  const asked = `Look at the background command “${name}”: ${detail}.`;
  const lines = output.slice(-SENT_OUTPUT);
  return lines === '' ? asked : `${asked}\nIts last lines:\n\n${quoteLines(lines)}`;
}

/** Indents the output, so that it cannot end the quote. */
function quoteLines(lines: string): string {
  return lines
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
