// Growth cases: output of models, endpoints and tools (streams, edits, patches, diffs, the Guide), and skills.
import { byteLines, joinLines } from '../../../src/core/checkpoints/byteLines.ts';
import { differenceOf as differenceOfBytes, withHunk } from '../../../src/core/checkpoints/hunks.ts';
import { undoSteps } from '../../../src/core/checkpoints/undoSteps.ts';
import { diffOfCall } from '../../../src/core/files/callDiff.ts';
import { differenceOf, endingOf } from '../../../src/core/files/difference.ts';
import { minimalEdits } from '../../../src/core/files/minimalEdits.ts';
import { nearestText } from '../../../src/core/files/nearest.ts';
import { parsePatch } from '../../../src/core/files/patch.ts';
import { fitHunks } from '../../../src/core/files/patchFit.ts';
import { replaceTexts } from '../../../src/core/files/replacements.ts';
import { linesShownIn } from '../../../src/core/files/shownLines.ts';
import { parseSkill } from '../../../src/core/prompt/skills.ts';
import { lessonsIn } from '../../../src/models/endpointMemory.ts';
import {
  entriesIn,
  exitCodeIn,
  filesWithProblems,
  fixesIn,
  moreIn,
  reasonIn,
  userTextsIn,
} from '../../../src/models/guide/guideReading.ts';
import { parseRequest } from '../../../src/models/guide/guideRequest.ts';
import { describeBlock, fence } from '../../../src/models/guide/guideSpeech.ts';
import { StreamAccumulator } from '../../../src/models/chat/chatStream.ts';
import { hintsIn, shippedProfile } from '../../../src/models/profile.ts';
import { type GrowthCases, over } from './cases.ts';
import { fill, type Prepare } from './measure.ts';

type Chunk = Parameters<StreamAccumulator['take']>[0];

/** Deltas of tool calls, one for each index. */
function deltas(make: (number: number) => { id?: string; name?: string; text: string; index?: number }): Prepare {
  return (count) => {
    const chunks = Array.from({ length: count }, (_, number): Chunk => {
      const { id, name, text, index } = make(number);
      return { choices: [{ delta: { tool_calls: [{ index, id, function: { name, arguments: text } }] } }] };
    });
    return () => {
      const stream = new StreamAccumulator({ provider: 'http://a', model: 'm', contextWindow: 128_000 });
      for (const chunk of chunks) stream.take(chunk);
      return stream.end();
    };
  };
}

const streams: GrowthCases = {
  'id and name in every delta': { prepare: deltas(() => ({ id: 'a', name: 'b', text: 'c', index: 0 })), size: 10_000 },
  'id and name in every delta of a text': {
    prepare: deltas((n) => ({ id: 'a', name: 'b', text: n === 0 ? '{"a":"' : 'c' })),
    size: 10_000,
  },
  'a name in every delta of digits': { prepare: deltas(() => ({ id: 'a', name: 'b', text: '[1,' })), size: 10_000 },
  'spaces behind a whole value': {
    prepare: deltas((n) => ({ id: 'a', name: n === 0 ? 'b' : '', text: n === 0 ? '{a}' : ' ' })),
    size: 10_000,
  },
  'no index, no id': { prepare: deltas(() => ({ text: 'c' })), size: 10_000 },
  'another id in every delta': { prepare: deltas((n) => ({ id: String(n % 500), name: 'b', text: '{' })), size: 5000 },
};

const profile = shippedProfile('http://127.0.0.1:1/v1');

const refusals: GrowthCases = {
  ...over('hintsIn', (text) => hintsIn(profile, text), [
    'user ',
    'user after ',
    'system ',
    'first ',
    'content ',
    'unknown ',
    '.',
    'a',
    ' ',
  ]),
  ...over('lessonsIn', (text) => lessonsIn({ profile, without: [] }, { text }), [
    'image',
    'multi',
    'content ',
    'a',
    'stream_options',
  ]),
};

const guide: GrowthCases = {
  ...over('parseRequest', parseRequest, [
    ' ',
    'then ',
    'run ',
    'search a in ',
    'replace "a" with ',
    '"',
    'please ',
    'list ',
    'fix ',
    ', and ',
    '\n',
    'ask me a: ',
  ]),
  ...over('blocks', (text) => [userTextsIn(text), entriesIn(text), moreIn(text), describeBlock(text)], [
    '<user_message',
    '<user_message>',
    '<user_message><![CDATA[\n',
    '<notification source="a" name="b"',
    '<notification ',
    '<notification source="a" name="b"><![CDATA[\n',
    '<more>',
    '</more>',
    '`',
    '\n+',
    'a',
  ]),
  ...over(
    'results',
    (text) => [exitCodeIn(text), reasonIn(text), filesWithProblems(text), fixesIn(text), fence(text)],
    [
      '(exit code ',
      '(exit code 1',
      '1',
      ' ',
      '(',
      ')',
      'The user rejected this call: ',
      'a (1)',
      ' (1',
      '  - a',
      'line 1: a\n',
      '.',
      '`',
    ],
  ),
};

/** A text and a variant of it, for functions that compare two. */
function pairs(name: string, run: (before: string, after: string) => unknown, size = 2500): GrowthCases {
  const makers: Record<string, (size: number) => [string, string]> = {
    'equal lines': (n) => ['a\n'.repeat(n), `${'a\n'.repeat(n)}b\n`],
    'more equal lines': (n) => ['a\n'.repeat(n), 'a\n'.repeat(2 * n)],
    'two lines in turn': (n) => ['a\nb\n'.repeat(n), 'b\na\n'.repeat(n)],
    'nothing in common': (n) => [lines(n, 'a'), lines(n, 'b')],
    'all in reverse': (n) => [lines(n, ''), lines(n, '').split('\n').reverse().join('\n')],
    'empty lines': (n) => ['\n'.repeat(n), `x${'\n'.repeat(2 * n)}`],
    'one long line': (n) => ['a'.repeat(n * 10), `${'a'.repeat(n * 10)}b`],
    'other line ends': (n) => ['a\r\n'.repeat(n), 'a\n'.repeat(n)],
    'every other line': (n) => [lines(n, ''), lines(n, '').replaceAll(/^(\d*[02468])$/gm, '$1x')],
  };
  return Object.fromEntries(
    Object.entries(makers).map(([what, make]) => {
      const prepare: Prepare = (length) => {
        const [before, after] = make(length);
        return () => run(before, after);
      };
      return [`${name}: ${what}`, { prepare, size }];
    }),
  );
}

function lines(count: number, prefix: string): string {
  return Array.from({ length: count }, (_, number) => `${prefix}${number}`).join('\n');
}

const encoder = new TextEncoder();
const LIMITS = { lines: 40, characters: 1800 };

const differences: GrowthCases = {
  ...pairs('differenceOf', (before, after) => differenceOf(before, after, LIMITS)),
  ...pairs('diffOfCall', (before, after) =>
    diffOfCall({ path: 'a', before: encoder.encode(before), after: encoder.encode(after) }),
  ),
  ...pairs('minimalEdits', minimalEdits),
  ...pairs('hunks', (before, after) => {
    const [old, now] = [encoder.encode(before), encoder.encode(after)];
    const [hunk] = differenceOfBytes(old, now).hunks ?? [];
    return hunk && withHunk(old, hunk);
  }),
  ...pairs(
    'undoSteps',
    (before, after) => {
      const [old, now] = [encoder.encode(before), encoder.encode(after)];
      return undoSteps({ bytes: encoder.encode(`${after}\nothers`), isLink: false }, [{ before: old, after: now }]);
    },
    10_000,
  ),
  ...over('byteLines', (text) => joinLines(byteLines(encoder.encode(text)) ?? []), ['\n', 'a', 'a\n', '\r\n']),
  ...over('endingOf', endingOf, ['\r', '\r\n', '\n']),
  'linesShownIn, few unique lines and many repeated ones': {
    prepare: (size) => {
      const blocks = (repeated: number) =>
        Array.from({ length: size / 50 }, (_, index) => `${'same\n'.repeat(repeated)}unique ${index}`).join('\n');
      const [file, shown] = [blocks(49), blocks(48)];
      return () => linesShownIn([shown], file);
    },
    size: 40_000,
  },
  'linesShownIn, all of a file of unique lines': {
    prepare: (size) => {
      const file = lines(size, 'unique ');
      return () => linesShownIn([file], file);
    },
    size: 40_000,
  },
};

const replace = (text: string, oldText: string, everywhere = false) =>
  replaceTexts(text, [{ oldText, newText: 'x\n', everywhere }]);
const hunk = (texts: readonly string[], sign: ' ' | '-' = '-') => ({
  at: 1,
  anchors: [],
  atEnd: false,
  lines: texts.map((text) => ({ sign, text })),
});

const edits: GrowthCases = {
  ...over('replaceTexts, a text that nearly fits', (text) => replace(text, `b${text.slice(0, text.length / 2)}`), [
    'a',
    'a\n',
    ' ',
    '\r\n',
    'ab',
  ]),
  ...over('replaceTexts, nearly at each place', (text) => replace(text, `${text.slice(0, text.length / 2)}b`), [
    'a',
    'a\n',
    '\r\n',
    'ab',
  ]),
  ...over('replaceTexts, at many places', (text) => replace(text, 'a', true), ['a', 'a\n', 'a\r\n', 'ab']),
  ...over(
    'nearestText',
    (text) => nearestText(text, `${text.slice(0, text.length / 2)}b`),
    ['a', 'a\n', '\n', ' ', '\r\n', 'ab\n'],
    10_000,
  ),
  ...over(
    'fitHunks, nearly at each place',
    (text) => {
      const all = text.split('\n');
      return fitHunks(text, [hunk([...all.slice(0, all.length / 2), 'b'])]);
    },
    ['a\n', ' \n', '\n', 'ab\n', 'a\r\n'],
    10_000,
  ),
  ...over(
    'fitHunks, many hunks',
    (text) =>
      fitHunks(
        text,
        inTens(text.split('\n')).map((ten) => hunk(ten)),
      ),
    ['a\n', 'ab\nb\n'],
    10_000,
  ),
  ...over('parsePatch', parsePatch, [
    '*** Begin Patch\n',
    '@@ ',
    '@@\n',
    '*** Add File: a\n',
    '-',
    '+\n',
    '\n',
    '*** Update File: a\n@@\n-a\n',
    ' ',
    (size: number) => `*** Begin Patch\n*** Update File: a\n${fill('@@ a\n-a\n', size)}\n*** End Patch`,
  ]),
};

function inTens(all: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(all.length / 10) }, (_, at) => all.slice(10 * at, 10 * at + 10));
}

const skills: GrowthCases = over('parseSkill', (text) => parseSkill('x', text), [
  '---\n',
  (size: number) => `---\nname: x\ndescription: "${'\\"'.repeat(size / 2)}`,
  (size: number) => `---\nname: x\ndescription: '${"''".repeat(size / 2)}`,
  (size: number) => `---\ndescription: >\n${'  a\n'.repeat(size / 4)}---\n`,
  (size: number) => `---\nname: x\ndescription: a${' '.repeat(size)}\n---\n`,
]);

export const modelCases = { streams, refusals, guide, differences, edits, skills };
