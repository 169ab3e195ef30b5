// Growth cases: every function of the extension host that takes outside text, with adversarial texts.
import { decodeBytes } from '../../../src/base/encodings.ts';
import { LineSplitter } from '../../../src/base/lines.ts';
import { compileLinearPattern } from '../../../src/base/patterns/linearPattern.ts';
import { parseIgnoreRules } from '../../../src/base/patterns/ignoreRules.ts';
import { printPath } from '../../../src/base/printPath.ts';
import { completeLength, PlainTextStream, plainText, withoutEscapes } from '../../../src/base/terminalText.ts';
import { fenceAround, withoutTrailing } from '../../../src/base/text.ts';
import { isLocalAddress, isLocalHost } from '../../../src/core/consent/addresses.ts';
import { parseIgnore } from '../../../src/core/consent/ignoreFile.ts';
import { whyProtected } from '../../../src/core/consent/protectedFiles.ts';
import { withAttachments } from '../../../src/core/conversation/attachments.ts';
import { lookalikeIn } from '../../../src/core/conversation/projections/lookalike.ts';
import { shortTitle } from '../../../src/core/conversation/projections/summary.ts';
import { estimateTokens } from '../../../src/core/conversation/tokens.ts';
import { compileGlob, globKeyOf, keysFor, matchesAny } from '../../../src/core/files/globs.ts';
import { LineSearch } from '../../../src/core/notify/lines/lineSearch.ts';
import { legal } from '../../../src/core/notify/format/blockText.ts';
import { describeMessage, describeUnread } from '../../../src/core/tools/messageTexts.ts';
import { printProblem } from '../../../src/core/notify/wording/problems.ts';
import { readPrompt } from '../../../src/core/prompt/promptFiles.ts';
import { readStructured } from '../../../src/core/prompt/structured.ts';
import { explain } from '../../../src/models/explain.ts';
import { isOverflow } from '../../../src/models/overflow.ts';
import { readCodeNames } from '../../../src/node/files/codeNames.ts';
import { resolveInside } from '../../../src/node/files/resolvePath.ts';
import { shellProgram } from '../../../src/node/shellProgram.ts';
import { jsonCodec } from '../../../src/plugins/jsonCodec.ts';
import { PluginOutput } from '../../../src/plugins/output.ts';
import { StreamMask } from '../../../src/plugins/streams/pieces.ts';
import { createExclusions } from '../../../src/producers/files/exclusions.ts';
import { readEvents } from '../../../src/storage/readEvents.ts';
import { htmlToText } from '../../../src/tools/fetching/htmlText.ts';
import { FoundLines, wantsPath } from '../../../src/tools/searching/searchQuery.ts';
import { matchScore } from '../../../src/vscode/completions/completions.ts';
import { toAgentName } from '../../../src/hub/agents/agentNames.ts';
import { type HubMessage } from '../../../src/protocol/hubMethods.ts';
import { createFolderWorkspace } from '../workspace/folderWorkspace.ts';
import { type GrowthCases, inPieces, over } from './cases.ts';

const encoder = new TextEncoder();
const folders = [{ path: '', absolute: '/workspace' }];

const paths: GrowthCases = {
  ...over('readCodeNames of JavaScript', (text) => readCodeNames(text, 'js'), [
    "require('a')",
    'require (',
    "from '",
    'import ',
    '= ',
    'a/b ',
  ]),
  ...over('readCodeNames of Python', (text) => readCodeNames(text, 'python'), [
    'from a import b\n',
    'import a,',
    ' ',
    'sys . ',
    'from ',
  ]),
  ...over('readCodeNames of a shell', (text) => readCodeNames(text, 'other'), ['a;', 'exec ', '@', ' ', 'a/b ', '&&']),
  ...over('matchScore', (text) => matchScore('menu.ts', text), ['m', 'me', 'menu.t', '/', 'x']),
  ...over('whyProtected', (path) => whyProtected(path, false), ['.', '. ', 'a/', '/', ':', '\\']),
  ...over('hides', (path) => parseIgnore('*.log\n/a/**/b\nbuild/\n**/x/**/y\n*a*a*a*b').hides(path), [
    'a/',
    '/',
    'a',
    '.',
  ]),
  ...over('parseIgnore, as rules', (rules) => parseIgnore(rules), [
    '*a',
    '(',
    '[',
    '\\',
    ' ',
    '**/',
    '!',
    '{a,',
    'a\n',
  ]),
  ...over('parseIgnoreRules, each rule', (rules) => parseIgnoreRules(rules).start().step('a'.repeat(50), true), [
    '*a\n',
    '[[\n',
  ]),
  ...over('a glob over a path', (path) => compileGlob('*a*a*a*a*a*a*a*a*b')(path), ['a', 'a/', 'ab']),
  ...over('a glob with ** over a path', (path) => compileGlob('**/a/**/a/**/a/**/b')(path), ['a/', 'ab/']),
  ...over('compileGlob, as a glob', (glob) => compileGlob(glob)('a/b'), ['{a,', '*a', '[', '(', '{', '/', '{a,b}']),
  ...over('globKeyOf and keysFor', (path) => [globKeyOf(path), keysFor(path)], ['a/', '.', '*', '/', 'a.']),
  ...over(
    'matchesAny',
    (path) => matchesAny(['dist', '**/*.snap', `${'*a'.repeat(100)}b`], path),
    ['a', 'a/', '/'],
    4000,
  ),
  ...over('resolveInside', (path) => resolveInside(folders, path), ['.', 'a/', '../', '\\', 'a'], 5000),
  ...over(
    'excludes',
    (path) => createExclusions(createFolderWorkspace('/workspace')).excludes(path),
    ['a/', '.', '/'],
    5000,
  ),
  ...over('printPath', printPath, ['\u202e', '"', '\\', 'a']),
  ...over(
    'wantsPath',
    (path) =>
      wantsPath({
        text: '',
        regex: false,
        contextLines: 0,
        ignored: false,
        include: ['*a*a*a*b', 'src/**'],
        exclude: ['**/*x*x*x'],
      })(path),
    ['a', 'a/', 'x'],
  ),
  ...over('describeMessage', (content) => describeMessage(messageOf(content), 0, 1e9), [
    'a',
    '\n',
    '| ',
    '\r\n',
    '\u2028',
  ]),
  ...over('describeUnread', (content) => describeUnread([messageOf(content)]), ['a', '\n', '\u202e']),
  ...over('toAgentName', (text) => toAgentName(text), ['a', '-', '!', 'a!']),
  ...over('shellProgram', shellProgram, ['a', '/', '\\']),
  ...over('isLocalHost', (host) => [isLocalHost(host), isLocalAddress(host)], ['1', '1.', ':', 'a.', '[', '.local']),
};

function messageOf(content: string): HubMessage {
  const author = { agent_id: 'a', name: 'a', role: '', module: '' };
  const more = { thread_id: null, scopes: [], refs: [], created_at: '', version: 1, deleted: false, is_read: false };
  return { message_id: 'msg_1', author, body: { format: 'plain', content }, cursor: 'c1', ...more };
}

const output: GrowthCases = {
  ...over(
    'LineSearch, in pieces',
    (text) => {
      const search = new LineSearch({ patterns: ['error*fatal', '/(a+)+$|(.*)*b/i'], position: { through: 0 } });
      return inPieces(text).flatMap((piece) => search.take(encoder.encode(piece))).length + search.takeRest().length;
    },
    ['a', 'error', '\n', '\r', '\u001b[31m', 'a\n'],
  ),
  ...over('compileLinearPattern', compileLinearPattern, ['a', '(', '(?:a', '[', 'a|', '\\', 'a*', 'a{2}'], 2000),
  ...over('plainText', plainText, [
    '\r',
    '\r\n',
    'a\r',
    '\b',
    'a\b',
    '\u001b',
    '\u001b[',
    '\u001b]',
    '\u001b[0;',
    '\u001bP',
    '\u009b',
    '\u001b[1G',
    '\u001b ',
    '\r\r\n',
  ]),
  ...over(
    'PlainTextStream',
    (text) => {
      const stream = new PlainTextStream();
      return inPieces(text).map((piece) => stream.take(piece));
    },
    ['\r', '\u001b', '\u001b]', '\u001b[0', 'a\b'],
  ),
  ...over('withoutEscapes', withoutEscapes, ['\u001b', '\u001b[', '\u001b]a', '\u001bPa']),
  ...over('completeLength', (text) => completeLength(encoder.encode(text)), ['\u001b', '\u001b]', 'ä', '😀']),
  ...over(
    'LineSplitter',
    (text) => {
      const lines = new LineSplitter(10_000_000);
      return inPieces(text).map((piece) => lines.take(piece));
    },
    ['a', 'a\n', '\n'],
    100_000,
  ),
  ...over('a found line', (text) => new FoundLines(() => undefined).take('a', { number: 1, text, at: 0 }), [
    ' ',
    'a ',
    '\t',
    '\n',
  ]),
  ...over('lookalikeIn', (text) => lookalikeIn(text, 'a', {}), ['<', '<notification', '**Earshot', '</', '_system']),
  ...over('estimateTokens', estimateTokens, [
    ' ',
    'a ',
    '日本',
    '日 ',
    'ä',
    '. ',
    '\n',
    'a\u00a0',
    '0',
    'ab-',
    '\u2003',
  ]),
  ...over('decodeBytes', (text) => decodeBytes(encoder.encode(text)), ['a', 'ä', '\0', '\r']),
  ...over('fenceAround', fenceAround, ['`', '` ', 'a']),
  ...over('withoutTrailing', (text) => withoutTrailing(text, ' .'), [' ', '.', ' a']),
  ...over('legal', legal, ['\0', '\ud800', '\udc00', '\u202e', 'a']),
  ...over('withAttachments', (content) => withAttachments('', [{ type: 'file_content', path: 'a', content }]), [
    '`',
    '``` ',
    'a',
  ]),
  ...over('printProblem', (message) => printProblem({ severity: 'error', message, line: 1, column: 1 }), [
    ' ',
    '\n ',
    'a',
  ]),
  ...over('shortTitle', shortTitle, [' ', '\n', 'a', 'a ']),
};

const pagesAndAnswers: GrowthCases = {
  ...over('htmlToText', htmlToText, [
    ...[
      '<',
      '<a ',
      '<a>',
      '<a href="',
      '<a href=b ',
      "<a href='b' ",
      '<!--',
      '<!',
      '<pre>',
      '<pre> ',
      '<li>',
      '<p>',
      '<head>',
      '<head></head>',
      '<title',
      '<script>',
    ],
    ...[
      '&',
      '&amp;',
      '&#',
      '"',
      '>',
      '</',
      '<td>',
      '<b/>',
      ' ',
      '\n',
      '<img alt=',
      '<a\n=',
      '<br>',
      '<h1>',
      '<code>',
      '<!-- -->',
      '< ',
      '<?',
      '<a "',
    ],
    (size: number) => `<pre>${' '.repeat(size)}`,
    (size: number) => `<pre>${'\t\n'.repeat(size / 2)}</pre>`,
    (size: number) => `${'<'.repeat(size)}>`,
    (size: number) => `<a ${'b '.repeat(size / 2)}>`,
    (size: number) => `<head>${'<title '.repeat(size / 7)}`,
  ]),
  ...over('isOverflow', isOverflow, [
    'context ',
    'context length ',
    'exceed ',
    'exceeds the maximum ',
    '.',
    'context size.',
    'too many input ',
    'a',
  ]),
  ...over(
    'explain',
    (text) => explain(Object.assign(new Error(text), { status: 400 }), { baseUrl: 'http://a', model: 'b' }, 0),
    ['context length ', 'a', ' ', '.'],
  ),
  ...over('readPrompt', readPrompt, ['-', '---\n', ' ', 'description: ', '\n---', '---\n---', '\r\n', '"']),
  ...over('readStructured', (text) => readStructured(text, { type: 'object' }), [
    '`',
    '```json\n',
    '\n',
    ' ',
    '{"a":',
    '```\n ',
  ]),
};

/** Lines of a log that other programs have written to. */
const logs: GrowthCases = over('readEvents', (text) => readEvents(Buffer.from(text)), [
  '\n',
  '{"v":1,"seq":1,\n',
  ',"crc":"',
  'a',
  '{',
  '"}\n',
]);

const silent = { append: () => undefined, log: () => undefined };
const stopped = { now: () => 0, monotonic: () => 0, after: () => ({ dispose: () => undefined }) };

/** Input from program plugins. */
const plugins: GrowthCases = {
  ...over('jsonCodec.decode', (line) => jsonCodec.decode(line), ['[', '{"a":', '"', '{"type":"log",', ' ']),
  ...over(
    'StreamMask, in pieces',
    (text) => {
      const mask = new StreamMask('aaaaaaaaaaab');
      return inPieces(text, 1).map((piece) => mask.add(piece)).length + mask.end().length;
    },
    ['a', 'aaaaaaaaaaab', 'b'],
  ),
  ...over(
    'PluginOutput.stderr, in pieces',
    (text) => {
      const shown = new PluginOutput(silent, stopped);
      for (const piece of inPieces(text)) shown.stderr(encoder.encode(piece));
      shown.end();
    },
    ['a', '\n', '\u{1f375}'],
  ),
};

export const hostCases = { paths, output, pagesAndAnswers, logs, plugins };
