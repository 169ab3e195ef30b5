// Streamed Markdown: for any chunks the final tokens equal those of parsing at once, at linear cost.
import fc from 'fast-check';
import { Lexer } from 'marked';
import { describe, expect, it } from 'vitest';
import { wholeText } from '../../../src/webview/growing.ts';
import { createMarkdownStream, type MarkdownStream } from '../../../src/webview/render/markdown/markdownStream.ts';
import { runs } from '../../support/runs.ts';

function stream(pieces: readonly string[]): MarkdownStream {
  const made = createMarkdownStream();
  for (const piece of pieces) made.append(piece);
  return made;
}

function tokensOf(made: MarkdownStream): unknown[] {
  return made
    .view()
    .blocks.chunks.flat()
    .map((block) => withoutBlankEnds(block.token));
}

/** Blank lines after a block may belong to the block or to the following space, with no visible difference. */
function withoutBlankEnds(token: { readonly raw: string }): unknown {
  return { ...token, raw: token.raw.trimEnd() };
}

function atOnce(text: string): unknown[] {
  const tokens = new Lexer({ gfm: true }).lex(text);
  return tokens.filter((token) => token.type !== 'space' && token.type !== 'def').map(withoutBlankEnds);
}

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)), text.length].toSorted((a, b) => a - b);
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

const line = fc.constantFrom(
  ...[
    '',
    '',
    '',
    'word',
    'two words',
    '- a',
    '- b',
    '* c',
    '1. one',
    '2. two',
    '   more',
    '  - nested',
    '    code',
    '\tcode',
  ],
  ...[
    '```',
    '```ts',
    '````',
    '~~~',
    '   ```',
    '> quote',
    '> - in quote',
    '# head',
    '## head ##',
    '===',
    '---',
    '***',
    '- [ ] open',
  ],
  ...[
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '<div>',
    '</div>',
    '<!-- note',
    '-->',
    '<script>',
    '[x]: https://x.example',
    '[x]',
  ],
  ...[
    '[y]: <u> "title',
    'end"',
    '**bold',
    'bold**',
    '`code',
    '![i](u)',
    'https://x.example',
    '\\',
    'a  ',
    '\\# no',
    '&amp;',
    '+',
    '-',
    '1.',
  ],
);
const document = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', '\r')), { maxLength: 24 })
  .map((lines) => lines.map(([text, end]) => text + end).join(''));

describe('the final result', () => {
  it('is the same for any chunks', () => {
    fc.assert(
      fc.property(document, fc.array(fc.nat(400), { maxLength: 12 }), (text, places) => {
        const made = stream(cut(text, places));
        made.finish();
        expect(tokensOf(made)).toEqual(atOnce(text));
      }),
      { numRuns: runs(800, 3000) },
    );
  });

  it('is the same for chunks of one character', () => {
    fc.assert(
      fc.property(document, (text) => {
        const made = stream(Array.from(text));
        made.finish();
        expect(tokensOf(made)).toEqual(atOnce(text));
      }),
      { numRuns: runs(300, 1000) },
    );
  });

  it('resolves a link that is defined after its use', () => {
    const text = 'See [x].\n\nMore.\n\nAnd more.\n\n[x]: https://x.example\n';
    const made = stream(Array.from(text));
    made.finish();
    expect(tokensOf(made)).toEqual(atOnce(text));
  });
});

describe('the cost', () => {
  const size = 100_000;
  const inPieces = (text: string) =>
    Array.from({ length: Math.ceil(text.length / 6) }, (_, index) => text.slice(index * 6, index * 6 + 6));
  const repeated = (part: string) => part.repeat(Math.ceil(size / part.length)).slice(0, size);

  it.each([
    ['paragraphs', repeated('Some words that make a sentence. And another one.\n\n'), 40],
    ['a single list', repeated('- an item of a list\n'), 200],
    ['a single paragraph', repeated('words and words '), 200],
    ['one open code block', `\`\`\`ts\n${repeated('const a = 1;\n')}`, 3],
    ['code blocks', repeated('Text:\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\n'), 40],
  ])('is linear for %s', (_, text, most) => {
    const half = stream(inPieces(text.slice(0, text.length / 2))).lexed;
    const whole = stream(inPieces(text)).lexed;
    expect(whole).toBeLessThan(most * text.length);
    expect(whole).toBeLessThan(2.5 * half + 10_000);
  });

  it('does not include parsing earlier blocks again', () => {
    const made = stream([repeated('Some words.\n\n')]);
    const before = made.lexed;
    made.append('More words.');
    expect(made.lexed - before).toBeLessThan(100);
  });
});

describe('an incomplete stream', () => {
  it('shows the lines of an open code block, but not a possible closing fence', () => {
    const made = stream(['Look:\n\n```ts\ncon', 'st a', ' = 1;\n', '``']);
    const open = made.view().blocks.chunks.flat().at(-1)?.open;
    expect(open && wholeText(open)).toBe('const a = 1;\n');
    made.append('`\nafter');
    const blocks = made.view().blocks.chunks.flat();
    expect(blocks.map((block) => [block.token.type, block.open])).toEqual([
      ['paragraph', undefined],
      ['code', undefined],
      ['paragraph', undefined],
    ]);
  });

  it('loses no text between chunks', () => {
    const item = '- an item of a list\n';
    const made = stream(Array.from({ length: 500 }, () => item));
    const { blocks, rest } = made.view();
    const read = blocks.chunks
      .flat()
      .map((block) => block.token.raw)
      .join('\n');
    expect(`${read.trimEnd()}\n${rest}`).toBe(item.repeat(500));
  });
});
