// Reads reports of test runs. Pure.
import { fieldOf, parseJson, listOf } from '../../base/json/outsideJson.ts';
import { decodeEntities } from '../../base/entities.ts';
import { type TestResult, type TestRun } from '../../core/tools/testRuns.ts';

const MOST_TESTS = 50_000;
const LONGEST_NAME = 300;
/** Of what a test says about its failure. */
const LONGEST_FAILURE = 10_000;

/** Undefined: it is neither JUnit XML nor JSON of Vitest or Jest, or only a part of it. */
export function readTestReport(text: string): TestRun | undefined {
  const start = text.trimStart();
  const results = start.startsWith('<') ? readJunit(start) : readJson(start);
  return results && new Map(results.map(({ name, failure }) => [name.slice(0, LONGEST_NAME), failure]));
}

/** `vitest --reporter=json` and `jest --json`. */
function readJson(text: string): readonly TestResult[] | undefined {
  const files = fieldOf(parseJson(text), 'testResults');
  if (!Array.isArray(files)) return undefined;
  const results: TestResult[] = [];
  for (const file of files as readonly unknown[]) {
    const tests = fieldOf(file, 'assertionResults');
    for (const test of listOf(file, 'assertionResults')) {
      if (results.length >= MOST_TESTS) return results;
      results.push(readAssertion(test));
    }
    // A file that could not be loaded has no tests.
    const path = fieldOf(file, 'name');
    const message = fieldOf(file, 'message');
    if (Array.isArray(tests) && tests.length === 0 && fieldOf(file, 'status') === 'failed' && typeof path === 'string')
      results.push({ name: path, failure: failureIn(message) });
  }
  return results;
}

function readAssertion(test: unknown): TestResult {
  const names = [fieldOf(test, 'fullName'), fieldOf(test, 'title')];
  const name = names.find((one) => typeof one === 'string' && one !== '');
  const [message] = listOf(test, 'failureMessages');
  return {
    name: typeof name === 'string' ? name : '(without a name)',
    ...(fieldOf(test, 'status') === 'failed' && { failure: failureIn(message) }),
  };
}

function failureIn(message: unknown): string {
  return typeof message === 'string' ? message.slice(0, LONGEST_FAILURE) : '';
}

const LONGEST_TEXT = 2000;
const ATTRIBUTE = /([\w:.-]{1,100})\s{0,20}=\s{0,20}(?:"([^"]{0,4000})"|'([^']{0,4000})')/g;

/** Undefined: it is no report, or it is cut. */
function readJunit(text: string): readonly TestResult[] | undefined {
  const results: TestResult[] = [];
  let test: { name: string; failure?: string; said: string } | undefined;
  let isFailing = false;
  let [hasRoot, isWhole] = [false, false];
  for (let at = text.indexOf('<'); at !== -1 && results.length < MOST_TESTS; ) {
    const tag = tagAt(text, at);
    if (tag === undefined) return undefined;
    const { name, isEnd, isEmpty, attributes, end, cdata } = tag;
    const next = text.indexOf('<', end);
    const content = cdata ?? decodeEntities(text.slice(end, next === -1 ? end : Math.min(next, end + LONGEST_TEXT)));
    if (name === 'testsuites' || name === 'testsuite') {
      hasRoot = true;
      isWhole = isEnd || isEmpty;
    }
    if (name === 'testcase' && !isEnd) {
      test = { name: nameOf(attributes), said: '' };
    } else if ((name === 'failure' || name === 'error') && test !== undefined) {
      isFailing = !isEnd && !isEmpty;
      if (!isEnd) test.failure ??= attributeOf(attributes, 'message');
    }
    if (isFailing && test !== undefined && test.said.length < LONGEST_TEXT) test.said += content.trim();
    if (name === 'testcase' && (isEnd || isEmpty) && test !== undefined) {
      const { failure, said } = test;
      results.push({ name: test.name, ...(failure !== undefined && { failure: failure === '' ? said : failure }) });
      test = undefined;
      isFailing = false;
    }
    at = next;
  }
  return hasRoot && isWhole ? results : undefined;
}

interface Tag {
  /** Empty: a comment, a declaration or CDATA. */
  readonly name: string;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  readonly attributes: string;
  readonly end: number;
  readonly cdata?: string;
}

const OTHERS: readonly (readonly [string, string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
];

/** Undefined: it does not end. */
function tagAt(text: string, at: number): Tag | undefined {
  const nothing = { name: '', isEnd: false, isEmpty: false, attributes: '' };
  for (const [open, close] of OTHERS) {
    if (!text.startsWith(open, at)) continue;
    const closes = text.indexOf(close, at + open.length);
    if (closes === -1) return undefined;
    const end = closes + close.length;
    const cdata = text.slice(at + open.length, Math.min(closes, at + LONGEST_TEXT));
    return open === '<![CDATA[' ? { ...nothing, end, cdata } : { ...nothing, end };
  }
  let close = at + 1;
  for (let quote = ''; close < text.length; close += 1) {
    const character = text.charAt(close);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') break;
  }
  if (close >= text.length) return undefined;
  const isEnd = text.charAt(at + 1) === '/';
  const isEmpty = text.charAt(close - 1) === '/';
  const inner = text.slice(at + (isEnd ? 2 : 1), isEmpty ? close - 1 : close);
  const [name = ''] = /^[\w:.-]{1,100}/.exec(inner) ?? [];
  return { name, isEnd, isEmpty, attributes: inner.slice(name.length, 20_000), end: close + 1 };
}

function nameOf(attributes: string): string {
  const [group, name] = [attributeOf(attributes, 'classname'), attributeOf(attributes, 'name')];
  return group === '' || name.startsWith(group) ? name : `${group} › ${name}`;
}

function attributeOf(attributes: string, wanted: string): string {
  for (const [, name, double, single] of attributes.matchAll(ATTRIBUTE))
    if (name === wanted) return decodeEntities(double ?? single ?? '').slice(0, LONGEST_TEXT);
  return '';
}
