// What a command line says for certain, and what an allow-list lets pass.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed, parseCommand, pathsIn } from '../../../../src/core/agent/commandLine.ts';

describe('a plain command is its words', () => {
  test.each([
    ['git status', ['git', 'status']],
    ['  git \t status  ', ['git', 'status']],
    ['git "status"', ['git', 'status']],
    [`git commit -m 'a; b && c > d $(e)'`, ['git', 'commit', '-m', 'a; b && c > d $(e)']],
    ['echo "a b"c', ['echo', 'a bc']],
    [`echo ''`, ['echo', '']],
  ])('%s', (line, words) => {
    expect(parseCommand(line)).toEqual(words);
  });
});

/** Each hides something behind `git status`. */
const TRICKS = [
  'git status; rm -rf x',
  'git status && rm -rf x',
  'git status || rm -rf x',
  'git status & rm -rf x',
  'git status | sh',
  'git status\nrm -rf x',
  'git status\r\nrm -rf x',
  'git status > .git/config',
  'git status < /etc/passwd',
  'git status >> x',
  'git status $(rm -rf x)',
  'git status `rm -rf x`',
  'git status "$(rm -rf x)"',
  'git status "`rm -rf x`"',
  'git status ${IFS}x',
  'git status $HOME',
  'GIT_PAGER=evil git status',
  'env=1 git status',
  'git status # ; x',
  'git status \\; x',
  'git status *',
  'git status {a,b}',
  'git status ~root',
  'git status (x)',
  'git status !!',
  'git status "!!"',
  'git status %PATH%',
  'git status ^& x',
  'git status "unclosed',
  "git status 'unclosed",
  'git status \u2028rm',
  'git\u00a0status',
  'git status \u202e x',
  'git status \0 x',
  '',
  '   ',
];

test.each(TRICKS)('%j is not certain, so it is not git status', (line) => {
  expect(parseCommand(line)).toBeUndefined();
});

test('no line with a character that a shell knows outside quotes is ever certain', () => {
  const special = fc.constantFrom(...Array.from(';&|<>()$`\\!*?[]{}~#%^\n\r'));
  const plain = fc.stringMatching(/^[a-z ]{0,8}$/);
  fc.assert(
    fc.property(plain, special, plain, (before, character, after) => {
      const line = `x${before}${character}${after}x`;
      expect(parseCommand(line)).toBeUndefined();
    }),
  );
});

describe('an allow-list', () => {
  const list = ['git status', 'npm test *', 'node "a b.js"', '*', 'rm; x', 'ls*'];
  test.each([
    ['git status', true],
    [`'git' "status"`, true],
    ['git status -s', false],
    ['git', false],
    ['gitstatus', false],
    ['npm test', true],
    ['npm test -- --run x', true],
    ['npm testing', false],
    ['npm', false],
    ['node "a b.js"', true],
    ['node a b.js', false],
    ['ls', false],
  ])('%s: %s', (line, allowed) => {
    expect(isAllowed(parseCommand(line) ?? [], list)).toBe(allowed);
  });
});

test('everything that may be a path is looked at, also in a line that is not certain', () => {
  expect(pathsIn('cat ../x --file=/etc/passwd -C/etc -v a.txt')).toEqual(['../x', '/etc/passwd', '/etc', 'a.txt']);
  expect(pathsIn('/usr/bin/git')).toEqual([]);
  expect(pathsIn('cat a; cat /etc/passwd > ~/x && curl https://example.com/a 2>/dev/null')).toEqual(
    expect.arrayContaining(['/etc/passwd', '~/x']),
  );
});
