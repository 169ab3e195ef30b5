// The bounded Markdown lexer: any input is rendered, and what exceeds the limits is rendered as plain text.
import type { Token } from 'marked';
import { describe, expect, test } from 'vitest';
import { lexMarkdown } from '../../../src/webview/render/markdown/boundedLexer.ts';
import { renderToken } from '../../../src/webview/render/markdown/markdown.tsx';
import { createMarkdownStream } from '../../../src/webview/render/markdown/markdownStream.ts';

function depthOf(tokens: readonly Token[]): number {
  return Math.max(
    0,
    ...tokens.map((token) => {
      const inner = ['tokens' in token ? (token.tokens ?? []) : [], 'items' in token ? (token.items as Token[]) : []];
      return 1 + depthOf(inner.flat());
    }),
  );
}

const texts = {
  quotes: (count: number) => '>'.repeat(count),
  'quotes with spaces': (count: number) => '> '.repeat(count),
  lists: (count: number) => `${'- '.repeat(count)}a`,
  'numbered lists': (count: number) => `${'1. '.repeat(count)}a`,
  'lists in quotes': (count: number) => `${'> - '.repeat(count)}a`,
  'indented lists': (count: number) =>
    Array.from({ length: count }, (_, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
  brackets: (count: number) => `${'['.repeat(count)}a${']'.repeat(count)}(b)`,
  'links in links': (count: number) => `${'['.repeat(count)}a${'](b)'.repeat(count)}`,
  'pictures in pictures': (count: number) => `${'!['.repeat(count)}a${'](b)'.repeat(count)}`,
  strong: (count: number) => `${'**a '.repeat(count)}${'**'.repeat(count)}`,
  'strong in emphasis': (count: number) => `${'**a *b '.repeat(count)}${'* **'.repeat(count)}`,
  'struck text': (count: number) => `${'~~a '.repeat(count)}${'~~ '.repeat(count)}`,
  backticks: (count: number) => '`'.repeat(count),
};

describe.each(Object.entries(texts))('%s', (_what, make) => {
  test.each([1000, 20_000])('%i of them are parsed and rendered at a bounded depth', (count) => {
    // The number of spaces before a list item grows with its depth.
    const text = make(make === texts['indented lists'] ? Math.min(count, 2000) : count);
    const tokens = lexMarkdown(text);
    expect(tokens.length).toBeGreaterThan(0);
    expect(depthOf(tokens)).toBeLessThan(60);
    expect(() => tokens.map(renderToken)).not.toThrow();
  });

  test('streaming ends with the same tokens as parsing at once', () => {
    const text = make(1000);
    const stream = createMarkdownStream();
    for (let at = 0; at < text.length; at += 64) stream.append(text.slice(at, at + 64));
    stream.finish();
    const drawn = stream.view().blocks.chunks.flat();
    expect(drawn.map(({ token }) => token.raw.trim()).join('\n')).toBe(
      lexMarkdown(text)
        .filter(({ type }) => type !== 'space')
        .map(({ raw }) => raw.trim())
        .join('\n'),
    );
  });
});

test('nesting beyond the bound is shown as text without losing any', () => {
  const [quote] = lexMarkdown(`${'> '.repeat(30)}deep`);
  expect(quote?.type).toBe('blockquote');
  expect(JSON.stringify(quote)).toContain(`> ${'> '.repeat(17)}deep`);
});

test('a table of 10,000 columns is shown as text; a table with too many rows ends as text', () => {
  const wide = `${'|a'.repeat(10_000)}|\n${'|-'.repeat(10_000)}|\n${'|\n'.repeat(10_000)}`;
  expect(lexMarkdown(wide).map(({ type }) => type)).not.toContain('table');
  const [table] = lexMarkdown(`|a|b|\n|-|-|\n${'|1|2|\n'.repeat(20_000)}`);
  const rows = table?.type === 'table' ? table.rows.length : 0;
  expect(rows).toBeGreaterThan(3000);
  expect(rows).toBeLessThan(6000);
});

test('a long list becomes several lists with every item once and correctly numbered', () => {
  const count = 3000;
  const text = Array.from({ length: count }, (_, index) => `${index + 1}. item`).join('\n');
  const lists = lexMarkdown(text).flatMap((token) => (token.type === 'list' ? [token] : []));
  expect(lists.flatMap(({ items }) => items)).toHaveLength(count);
  let next = 1;
  for (const { start, items } of lists) {
    expect(start).toBe(next);
    next += items.length;
  }
});

test('mail addresses become links, but not inside other words', () => {
  const types = (text: string) => JSON.stringify(lexMarkdown(text));
  expect(types('write to a@b.example now')).toContain('mailto:a@b.example');
  expect(types(`${'a'.repeat(1000)}@b.example https://c.example`)).not.toContain('mailto:');
  expect(types(`${'a'.repeat(1000)}@b.example https://c.example`)).toContain('"href":"https://c.example"');
});
