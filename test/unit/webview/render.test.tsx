// Rendering of Markdown and code: no HTML, no images from the network, syntax colours as nodes.
import { isValidElement, type VNode } from 'preact';
import { describe, expect, it } from 'vitest';
import { decodeEntities } from '../../../src/base/entities.ts';
import { highlight, isPrepared, prepareLanguage } from '../../../src/webview/render/markdown/highlight.ts';
import { renderToken } from '../../../src/webview/render/markdown/markdown.tsx';
import { createMarkdownStream } from '../../../src/webview/render/markdown/markdownStream.ts';
import { visibleText } from '../../../src/webview/render/visibleText.ts';
import { toolTitle } from '../../../src/webview/toolTitle.ts';

type Plain =
  | string
  | { readonly tag: string; readonly properties: Readonly<Record<string, unknown>>; readonly children: Plain[] };

function plain(node: unknown): Plain[] {
  if (Array.isArray(node)) return node.flatMap(plain);
  if (isValidElement(node)) {
    const { type, props } = node as VNode<{ children?: unknown }>;
    const { children, ...properties } = props;
    return [{ tag: typeof type === 'string' ? type : type.name, properties, children: plain(children) }];
  }
  return typeof node === 'string' || typeof node === 'number' ? [String(node)] : [];
}

function drawn(text: string): Plain[] {
  const stream = createMarkdownStream();
  stream.append(text);
  stream.finish();
  return stream
    .view()
    .blocks.chunks.flat()
    .flatMap((block) => plain(renderToken(block.token)));
}

function find(nodes: readonly Plain[], tag: string): Exclude<Plain, string>[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [...(node.tag === tag ? [node] : []), ...find(node.children, tag)],
  );
}

function textOf(nodes: readonly Plain[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : textOf(node.children))).join('');
}

describe('Markdown', () => {
  it('shows HTML as text', () => {
    const nodes = drawn('<script>alert(1)</script>\n\na <b onclick="x">b</b>\n\n<img src=x onerror=y>');
    expect(find(nodes, 'script').concat(find(nodes, 'b'), find(nodes, 'img'))).toEqual([]);
    expect(textOf(nodes)).toContain('<script>alert(1)</script>');
    expect(textOf(nodes)).toContain('<b onclick="x">b</b>');
  });

  it('renders an image as a link with its alt text', () => {
    const nodes = drawn('![a cat](https://example.com/cat.png)');
    expect(find(nodes, 'img')).toEqual([]);
    expect(find(nodes, 'Link')).toMatchObject([
      { properties: { href: 'https://example.com/cat.png' }, children: ['a cat'] },
    ]);
  });

  it('renders lists, tasks, tables and quotes', () => {
    const nodes = drawn('3. a\n   - [x] b\n   - [ ] c\n\n> q\n\n| h |\n|--:|\n| 1 |\n');
    expect(find(nodes, 'ol')[0]?.properties['start']).toBe(3);
    expect(find(nodes, 'Checkbox').map((node) => node.properties['checked'])).toEqual([true, false]);
    expect(find(nodes, 'blockquote').map((node) => textOf([node]))).toEqual(['q']);
    expect(find(nodes, 'td')[0]?.properties['class']).toBe('align-right');
  });

  it('decodes character references in text but not in code', () => {
    expect(textOf(drawn('a &amp; b &lt; `&amp;`'))).toBe('a & b < &amp;');
    expect(decodeEntities('&#65;&#x42;&#0;&#xD800;&nothing; &')).toBe('AB\ufffd\ufffd&nothing; &');
  });
});

describe('code colours', () => {
  const text = (parts: ReturnType<typeof highlight>): string =>
    (parts ?? []).map((part) => (typeof part === 'string' ? part : text(part.children))).join('');

  it.each([
    ['ts', 'export async function f(a: string) { return `x${a}`; } // end'],
    ['html', '<p class="a">x</p><script>const a = 1;</script><style>p { color: red }</style>'],
    ['md', '# a\n```js\nconst b = 1\n```\n'],
    ['python', 'def f(x):\n    """doc"""\n    return f"{x}"\n'],
    ['diff', '-a\n+b\n'],
    ['php', '<?php echo "a $b"; ?>'],
  ])('keeps every character of %s', async (language, code) => {
    await prepareLanguage(language, code);
    expect(isPrepared(language)).toBe(true);
    const parts = highlight(code, language);
    expect(parts?.some((part) => typeof part !== 'string')).toBe(true);
    expect(text(parts)).toBe(code);
  });

  it('compiles a grammar in a task after the one that needs it first', async () => {
    expect(isPrepared('yaml')).toBe(false);
    const prepared = prepareLanguage('yaml', 'a: 1');
    await Promise.resolve();
    expect(isPrepared('yaml')).toBe(false);
    await prepared;
    expect(isPrepared('yaml')).toBe(true);
  });

  it('leaves unknown languages and very long code without colours', () => {
    expect(isPrepared('nothing')).toBe(true);
    expect(highlight('a', 'nothing')).toBeUndefined();
    expect(highlight('a '.repeat(50_000), 'ts')).toBeUndefined();
  });
});

it('shows invisible and direction-changing characters as code points', () => {
  expect(visibleText('rm a\u202egnp.exe\u200b\n\tok')).toBe('rm a⟨U+202E⟩gnp.exe⟨U+200B⟩\n\tok');
});

it.each([
  ['read_file', { path: 'src/a.ts' }, 'Read src/a.ts'],
  ['run_command', { command: 'npm test\nnpm run build' }, 'Run npm test…'],
  ['list_files', {}, 'List files'],
  ['mcp_thing', { count: 3, query: 'x' }, 'mcp thing x'],
  ['move_file', { path: 'a.ts', to: 'b.ts' }, 'Move a.ts → b.ts'],
  ['apply_patch', { input: '*** Begin Patch\n*** Delete File: a.ts\n*** End Patch' }, 'Patch a.ts'],
  ['apply_patch', { input: '*** Update File: a.ts\n*** Add File: b.ts\n*** Delete File: c.ts' }, 'Patch a.ts + 2'],
])('gives a call of %s a readable title', (name, values, title) => {
  expect(toolTitle(name, values)).toBe(title);
});
