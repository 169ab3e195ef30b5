// Ignore rules agree with git on every path.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { parseIgnoreRules } from '../../../../src/base/patterns/ignoreRules.ts';
import { runs } from '../../../support/runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'earshot-rules-'));
execFileSync('git', ['-C', folder, 'init', '-q']);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the paths that git ignores; the files need not exist. */
function ignoredByGit(rules: string, paths: readonly string[], ignoreCase: boolean): string[] {
  writeFileSync(join(folder, '.gitignore'), rules);
  try {
    const out = execFileSync(
      'git',
      ['-C', folder, '-c', `core.ignorecase=${ignoreCase}`, 'check-ignore', '--no-index', '-z', '--stdin'],
      { input: paths.join('\0'), stdio: ['pipe', 'pipe', 'pipe'] },
    );
    return out.toString('utf8').split('\0').filter(Boolean);
  } catch (error) {
    // Status 1 means that none of them is ignored.
    if ((error as { status?: number }).status === 1) return [];
    throw error;
  }
}

function ignoredByUs(rules: string, paths: readonly string[], ignoreCase: boolean): string[] {
  const parsed = parseIgnoreRules(rules, ignoreCase);
  return paths.filter((path) => {
    const walk = parsed.start();
    const names = path.split('/');
    return names.some((name, index) => walk.step(name, index < names.length - 1) === 'ignored');
  });
}

// No letters outside ASCII, because for git `?` and `[...]` match bytes.
const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '.', '-', ' ', '[', '(', '!', '#'),
  minLength: 1,
  maxLength: 4,
});
const safeName = name.filter((one) => one !== '.' && one !== '..');
const path = fc.array(safeName, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const piece = fc.constantFrom(
  'a',
  'b',
  'A',
  '.',
  '*',
  '**',
  '?',
  '/',
  '[ab]',
  '[!a]',
  '[a-c]',
  '\\',
  ' ',
  '!',
  '#',
  '(',
  '[[:alpha:]]',
  '[',
);
const rule = fc.array(piece, { maxLength: 7 }).map((pieces) => pieces.join(''));

test.each([false, true])('any rules on any paths agree with git, case ignored: %s', (ignoreCase) => {
  fc.assert(
    fc.property(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.array(path, { minLength: 10, maxLength: 40 }),
      (rules, some) => {
        const text = rules.join('\n');
        const paths = [...new Set(some)];
        expect(ignoredByUs(text, paths, ignoreCase)).toEqual(ignoredByGit(text, paths, ignoreCase));
      },
    ),
    { numRuns: runs(20, 60) },
  );
});

test('`**` before an escaped slash agrees with git: one name or more', () => {
  const paths = ['a', 'a/a', 'b/a', 'b/b/a', 'b/b/b/a'];
  for (const rules of ['**\\/a', 'b/**\\/a', '**/a', '**\\/**\\/a'])
    expect(ignoredByUs(rules, paths, false)).toEqual(ignoredByGit(rules, paths, false));
});

test('an escaped capital agrees with git, whether case is ignored or not', () => {
  const paths = ['a', 'A', 'b/a', 'b/A', 'xa', 'xA'];
  for (const ignoreCase of [false, true])
    for (const rules of ['\\A', '\\a', '?\\A', '*\\A', 'b/\\A'])
      expect(ignoredByUs(rules, paths, ignoreCase)).toEqual(ignoredByGit(rules, paths, ignoreCase));
});

test.each([
  ['a rule of 66,000 characters', `${'x'.repeat(66_000)}\n*.log`],
  ['a rule of 20,000 brackets', `${'('.repeat(20_000)}\n*.log`],
  ['more stars than can be tried', `${'*a'.repeat(2000)}*b\n*.log`],
])('%s does not affect the rules after it', (_what, rules) => {
  const walk = parseIgnoreRules(rules).start();
  expect([walk.step('a'.repeat(200), true), walk.step('x.log', false)]).toEqual([undefined, 'ignored']);
});
