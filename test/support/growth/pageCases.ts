// Growth cases: input of the page (complete and streamed Markdown, links, entities, incomplete arguments of calls).
import { argumentDiff } from '../../../src/webview/argumentDiff.ts';
import { tokenAt } from '../../../src/webview/composer/picker.tsx';
import { readPartial } from '../../../src/webview/partialJson.ts';
import { colouredLines } from '../../../src/webview/render/diff/diffColours.ts';
import { lexMarkdown } from '../../../src/webview/render/markdown/boundedLexer.ts';
import { decodeEntities } from '../../../src/base/entities.ts';
import { highlight } from '../../../src/webview/render/markdown/highlight.ts';
import { linkTarget } from '../../../src/webview/render/markdown/links.ts';
import { renderToken } from '../../../src/webview/render/markdown/markdown.tsx';
import { createMarkdownStream } from '../../../src/webview/render/markdown/markdownStream.ts';
import { linkPaths } from '../../../src/webview/render/pathLinks.tsx';
import { visibleText } from '../../../src/webview/render/visibleText.ts';
import { toolTitle } from '../../../src/webview/toolTitle.ts';
import { type GrowthCases, inPieces, over } from './cases.ts';

const MARKDOWN = [
  ...[
    '>',
    '> ',
    '- ',
    '1. ',
    '> - ',
    '- a\n',
    '- a\nb\n',
    '- [ ] a\n',
    '> a\n',
    '> a\nb\n',
    '> - a\nb\n',
    '> > a\nb\n',
    '  - a\n',
  ],
  ...[
    '[',
    '![',
    '[a](',
    '[a](b "',
    '[a](<',
    '[a][b]',
    '](b)',
    '[a]: b\n',
    '[a]: b "\n',
    '*',
    '**',
    '**a ',
    '*a',
    '*a ',
    '***a',
    'a**b',
    '_a ',
    'a_',
    '*a_b ',
  ],
  ...[
    '`',
    '` ',
    '`a``',
    '~',
    '~~a',
    '<',
    '<a ',
    '<!--',
    '<div>',
    '<http://a',
    '&',
    '&amp;',
    '&#',
    'http',
    'http://',
    'www.',
    'a@a.',
    'a.',
    'mailto:',
  ],
  ...[
    '|',
    '|a',
    '|-',
    '|a|b|\n|-|-|\n',
    '|\n',
    '#',
    '# ',
    '#\n',
    '=\n',
    '-\n',
    '---\n',
    '```\n',
    '~~~\n',
    '    a\n',
    '\t',
    ' ',
    '\n',
    'a\n',
    'a  \n',
    '\\',
    '\r',
    'a',
    '\0',
  ],
  (size: number) => `${'['.repeat(size / 2)}a${']'.repeat(size / 2)}(b)`,
  (size: number) => `${'**a '.repeat(size / 6)}${'**'.repeat(size / 6)}`,
  (size: number) => `${'|a'.repeat(size / 4)}|\n${'|-'.repeat(size / 4)}|\n`,
  (size: number) => `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(size / 6)}`,
  (size: number) => `- a\n${'  b\n\n'.repeat(size / 5)}`,
  (size: number) => `${'a'.repeat(size)}@b.example`,
];

const markdown: GrowthCases = {
  ...over('lexed', lexMarkdown, MARKDOWN, 10_000),
  ...over(
    'drawn',
    (text) => lexMarkdown(text).map(renderToken),
    ['>', '- ', '**a ', '[a](b)', '|a|b|\n|-|-|\n', '`a`', '<b>', '\n\n'],
    10_000,
  ),
  ...over(
    'in pieces',
    (text) => {
      const stream = createMarkdownStream();
      for (const piece of inPieces(text)) {
        stream.append(piece);
        stream.view();
      }
      stream.finish();
      return stream.view();
    },
    [
      '>',
      '- ',
      '- a\n',
      '1. ',
      '[',
      '**',
      '**a ',
      '*a',
      '`',
      '``` \n',
      '|a',
      '|a|b|\n|-|-|\n',
      '<',
      '&amp;',
      'a',
      'a\n',
      '\n',
      '\r',
      'a\n\n',
      '~',
      '[a]: b\n',
      '> a\n',
    ],
    2500,
  ),
};

const arguments_: GrowthCases = {
  ...over('readPartial', readPartial, [
    '{',
    '[',
    '{"a":',
    '{"a":"',
    '"',
    '\\',
    ',',
    '}',
    '[]',
    ' ',
    (size: number) => `{"a":"${'\\n'.repeat(size / 2)}`,
  ]),
  ...over(
    'argumentDiff',
    (text) => [
      argumentDiff('apply_patch', { input: text }),
      argumentDiff('write_file', { path: 'a', content: text }),
      argumentDiff('edit_file', { path: 'a', edits: [{ old_text: text, new_text: text }] }),
    ],
    ['\n', '+\n', '*** Add File: a\n', '*** ', 'a'],
  ),
  ...over(
    'toolTitle',
    (text) => [toolTitle('run_command', { command: text }), toolTitle('apply_patch', { input: text })],
    [' ', '\n', 'a', '*** Add File: a\n', '*** Add File: '],
  ),
  ...over('linkTarget', linkTarget, [
    '#',
    '#L1',
    ':',
    ':1',
    '1',
    ':1:1',
    'a',
    '%41',
    '/',
    '\\',
    '?',
    '.',
    'a:',
    'a.b:1',
  ]),
  ...over('linkPaths', linkPaths, ['/', 'a/', 'a.b', 'a.', ':1', 'a/b.ts:1', '.', '@', 'a.a/', ' ', '(']),
  ...over('tokenAt', (text) => tokenAt(text, text.length), ['@', '/', ' @', 'a', '@a', ' ']),
  ...over('decodeEntities', decodeEntities, ['&', '&amp;', '&#', '&#1', '&#x', ';', '&a']),
  ...over('visibleText', visibleText, ['\u202e', 'a', '\u{e0001}']),
  ...over(
    'highlight',
    (text) =>
      ['typescript', 'json', 'bash', 'xml', 'markdown', 'python', 'css', 'yaml'].map((language) =>
        highlight(text, language),
      ),
    ['{', '[', '"', '/', '<', '`', '`${', '(', 'a', ' ', '*', '#', '\\', '$(', '- ', 'a:', '0'],
    30_000,
  ),
  ...over('colouredLines', (text) => colouredLines(text.split('\n'), 'ts'), ['+\n', '-a\n', ' `${\n', '+/*\n'], 60_000),
};

export const pageCases = { markdown, arguments: arguments_ };
