// Parsing of command lines, and matching against an allow list.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAllowed, parseCommand, pathsIn } from '../../../../src/core/consent/commandLine.ts';
import { type ShellSyntax } from '../../../../src/core/consent/shell/script.ts';
import { superlinear } from '../../../support/growth/measure.ts';

describe('a plain command is split into words', () => {
  test.each([
    ['git status', ['git', 'status']],
    ['  git \t status  ', ['git', 'status']],
    ['git "status"', ['git', 'status']],
    [`git commit -m 'a; b && c > d $(e)'`, ['git', 'commit', '-m', 'a; b && c > d $(e)']],
    ['echo "a b"c', ['echo', 'a bc']],
    [`echo ''`, ['echo', '']],
  ])('%s', (line, words) => {
    expect(parseCommand(line, 'bash')).toEqual(words);
  });
});

/** Each of these lines hides something behind `git status`. */
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

test.each(TRICKS)('%j is ambiguous and does not match git status', (line) => {
  expect(parseCommand(line, 'bash')).toBeUndefined();
});

test('any line with a shell character outside quotes is ambiguous', () => {
  const special = fc.constantFrom(...Array.from(';&|<>()$`\\!*?[]{}~#%^\n\r'));
  const plain = fc.stringMatching(/^[a-z ]{0,8}$/);
  fc.assert(
    fc.property(plain, special, plain, (before, character, after) => {
      const line = `x${before}${character}${after}x`;
      expect(parseCommand(line, 'bash')).toBeUndefined();
    }),
  );
});

describe('an allow list', () => {
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
    expect(isAllowed(parseCommand(line, 'bash') ?? [], list, 'bash')).toBe(allowed);
  });
});

test('every word that may be a path is checked, also in an ambiguous line', () => {
  const paths = (line: string) => pathsIn(line, 'bash').paths;
  expect(paths('cat ../x --file=/etc/passwd -C/etc -v a.txt')).toEqual(
    expect.arrayContaining(['../x', '/etc/passwd', '/etc', 'a.txt']),
  );
  expect(paths('/usr/bin/git')).toEqual([]);
  expect(paths('cat a; cat /etc/passwd > ~/x && curl https://example.com/a 2>/dev/null')).toEqual(
    expect.arrayContaining(['/etc/passwd', '~/x']),
  );
  expect(paths('cat "/etc/passwd')).toContain('/etc/passwd');
});

describe('a variable that is changed in an unusual way hides no path: cat reads ../secret in each of these', () => {
  test.each([
    'x=a; n=x; declare "$n=."; cat $x$x/secret',
    'x=a; d=declare; $d x=.; cat $x$x/secret',
    'x=a; declare -n r=x; r=.; cat $x$x/secret',
    'x=a; builtin declare x=.; cat $x$x/secret',
    'x=a; command eval "x=."; cat $x$x/secret',
    'x=a; command -p eval "x=."; cat $x$x/secret',
    'x=a; builtin read x <<< .; cat $x$x/secret',
    'x=a; export "x=."; cat $x$x/secret',
    'x=; : ${x:=..}; cat ./$x/secret',
    'x=; : "${x=..}"; cat ./$x/secret',
    'x=; echo > ${x:=..}; cat ./$x/secret',
    'x=a; builtin printf -v x ..; cat $x/secret',
    'x=a; v=-v; printf $v x ..; cat $x/secret',
    'x=a; trap "x=.." DEBUG; cat $x/secret',
    'x=a; time read x <<< ..; cat $x/secret',
    'x=a; ! read x <<< ..; cat $x/secret',
    'x=a; if read x <<< ..; then cat $x/secret; fi',
  ])('%s', (line) => {
    const { paths, unclear } = pathsIn(line, 'bash');
    if (!paths.some((path) => path.endsWith('../secret'))) expect(unclear).toBeDefined();
  });

  test.each([
    'x=a; print -v x ..; cat $x/secret',
    'x=a; noglob read x <<< ..; cat $x/secret',
    'x=a; - read x <<< ..; cat $x/secret',
    'x=a; set -A x ..; cat $x/secret',
    'x=a; o=-A; set $o x ..; cat $x/secret',
    'x=a; zformat -f x ..; cat $x/secret',
  ])('in zsh: %s', (line) => {
    expect(pathsIn(line, 'zsh').unclear).toBeDefined();
  });

  test.each([
    'export PATH; x=a; cat $x/b',
    'declare -r x=a; cat $x/b',
    'x=a; printf "%s" $x; cat $x/b',
    'set -eu; x=a; cat $x/b',
  ])('an ordinary declaration keeps the values known: %s', (line) => {
    expect(pathsIn(line, 'bash')).toEqual({ paths: expect.arrayContaining(['a/b']) as string[] });
  });
});

test('a path in a comment is ignored', () => {
  expect(pathsIn('ls src # </summary> /etc', 'bash')).toEqual({ paths: ['src'] });
  expect(pathsIn('# /etc\nls src\n  # ~/x', 'sh')).toEqual({ paths: ['src'] });
  expect(pathsIn('ls a#/etc', 'bash').paths).toContain('a#/etc');
});

describe('the parsing time is linear in the length of', () => {
  const lines: Record<string, (n: number) => string> = {
    spaces: (n) => `git${' '.repeat(n)}status${' '.repeat(n)}`,
    'spaces before a *': (n) => `git${' '.repeat(n)}*`,
    words: (n) => 'a '.repeat(n),
    paths: (n) => '/a '.repeat(n),
    'one word': (n) => `x ${'a'.repeat(n)}`,
    quotes: (n) => `x ${`"a"'b'`.repeat(n)}`,
    escapes: (n) => `x ${'\\a'.repeat(n)}`,
    'open parentheses': (n) => '('.repeat(n),
    'open substitutions': (n) => `x ${'$('.repeat(n)}`,
    'open quotes': (n) => `x ${'"$('.repeat(n)}`,
    backquotes: (n) => `x ${'\`a\`'.repeat(n)}`,
    'escaped backquotes': (n) => `x \`${'\\\\'.repeat(n)}\``,
    substitutions: (n) => `x ${'$(a)'.repeat(n)}`,
    variables: (n) => `x ${'$a'.repeat(n)}`,
    assignments: (n) => `${'a=b '.repeat(n)}; x $a`,
    'many values': (n) => `${'a=b;'.repeat(n)} x $a$a`,
    braces: (n) => `x ${'{a,b}'.repeat(n)}`,
    'open braces': (n) => `x ${'{'.repeat(n)}`,
    'braces of variables': (n) => `x ${'${a}'.repeat(n)}`,
    'open ${': (n) => `x ${'${a'.repeat(n)}`,
    arithmetic: (n) => `x $((${'a'.repeat(n)}))`,
    documents: (n) => 'x <<E\na\nE\n'.repeat(n),
    'documents of one line': (n) => `x ${'<<E '.repeat(n)}\n${'E\n'.repeat(n)}`,
    'an open document': (n) => `x <<E\n${'a\n'.repeat(n)}`,
    comments: (n) => '# a\n'.repeat(n),
    hashes: (n) => `x ${'#'.repeat(n)}`,
    redirections: (n) => `x ${'>a '.repeat(n)}`,
    pipes: (n) => 'a|'.repeat(n),
    loops: (n) => 'for a in b; do '.repeat(n),
    'changes of folder': (n) => 'cd a;'.repeat(n),
    addresses: (n) => `x ${'https://'.repeat(n)}`,
    'an option': (n) => `x -${'a'.repeat(n)}=${'b:'.repeat(n)}`,
    dots: (n) => `x ${'.'.repeat(n)}`,
    slashes: (n) => `x ${'/'.repeat(n)}`,
    'shells in shells': (n) => `${'sh -c '.repeat(n)}x`,
    brackets: (n) => '['.repeat(n),
    'a word of brackets': (n) => `x ${'['.repeat(n)}`,
    'hidden names': (n) => `x ${'/.'.repeat(n)}`,
    'many dots': (n) => `x /${'.'.repeat(n)}`,
    'drive letters': (n) => `x ${'C:/'.repeat(n)}`,
  };
  const shells: readonly ShellSyntax[] = ['bash', 'powershell'];
  test.each(Object.keys(lines))('%s', async (name) => {
    for (const shell of shells) {
      const prepare = (n: number) => {
        const line = lines[name]?.(n) ?? '';
        return () => {
          pathsIn(line, shell);
          isAllowed(parseCommand(line, shell) ?? [], [line, `${line} *`], shell);
        };
      };
      expect(await superlinear(prepare, 2000), shell).toBeUndefined();
    }
  });
});
