// Compares the command-line parser with real shells.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainWords } from '../../../../src/core/consent/shell/plainWords.ts';
import { readPosixScript } from '../../../../src/core/consent/shell/posixReader.ts';
import { type PosixShell, type Word } from '../../../../src/core/consent/shell/script.ts';
import { runs } from '../../../support/runs.ts';

let root: string;

/** Replaces every program on the PATH by one that prints its name and arguments, in one write each. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'earshot-shells-'));
  mkdirSync(join(root, 'bin'));
  const probe = join(root, 'bin', 'a');
  writeFileSync(probe, `#!/bin/sh\nend=$(printf '\\001'); printf '%s\\0' "\${0##*/}" "$@" "$end" >> "$PROBE"\n`);
  chmodSync(probe, 0o755);
  for (const name of ['b', 'c']) linkSync(probe, join(root, 'bin', name));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/**
 * The commands that the shell ran, with their arguments. No line contains a slash, so nothing outside the folder is
 * reached.
 */
function run(shell: string, line: string): string[][] {
  const [folder, probe] = [join(root, 'work'), join(root, 'probe')];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(probe, '');
  const env = { PATH: join(root, 'bin'), PROBE: probe, HOME: folder, LC_ALL: 'C.UTF-8' };
  spawnSync(shell, ['-c', line], { cwd: folder, env, input: '', timeout: 20_000 });
  const records = readFileSync(probe, 'utf8').split('\x01\0').slice(0, -1);
  return records.map((record) => record.split('\0').slice(0, -1));
}

const shells: readonly (readonly [string, PosixShell])[] = [
  ['/bin/bash', 'bash'],
  ['/usr/bin/dash', 'sh'],
  ['/usr/bin/zsh', 'zsh'],
];
const installed = shells.filter(([path]) => existsSync(path));
const RUNS = runs(40, 300);

const characters = fc.constantFrom(
  ...Array.from(`ab'"\\$\` \t\n;&|<>(){},.~*?#=!-[]%^:@+_1`),
  ...['\r', '\v', '\f', '\u00a0', '\uFEFF', '\u2028', '\u200b', 'é', ' a ', ' b ', "''", '""'],
);
const pieces = fc.constantFrom(
  ...['a', 'b', 'c', ' a ', '; b ', ' && c ', ' | a', ' ', '\n', '\t', '"', "'", '\\', '\\\n', '$x', '${x}', '"$x"'],
  ...['$(a b)', '$(', ')', '(', '`b`', '`', '# x\n', '#', '<<E\n', '\nE\n', "<<'E'\nx $x\nE\n", ' <<-E\n\tx\n\tE\n'],
  ...[
    '>f',
    '2>&1',
    ' 2> f',
    '&> f',
    '<f',
    '<<<x',
    'x=a ',
    'x=b;',
    'for x in a b',
    '; do ',
    '; done',
    'if ',
    '; then ',
    '; fi',
  ],
  ...[
    '{ ',
    '; }',
    '! ',
    '{a,b}',
    '{',
    '}',
    '*',
    '~',
    '$((1+2))',
    "$'a\\tb'",
    "$'",
    '$"a"',
    '\r',
    '\v',
    '\u00a0',
    '\uFEFF',
    '=',
    '!',
  ],
);

function literal(word: Word): string | undefined {
  let text = '';
  for (const part of word) {
    // The shell expands patterns, braces and home folders.
    if (part.type !== 'text' || (!part.quoted && /[*?[\]{}~]/.test(part.text))) return undefined;
    text += part.text;
  }
  return text;
}

describe.each(installed)('%s', (path, shell) => {
  test('the words of a plain command are the arguments that the program gets', () => {
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), (given) => {
        const line = `a ${given.join('')}`;
        const words = plainWords(line, shell);
        if (words !== undefined) expect(run(path, line)).toEqual([words]);
      }),
      { numRuns: RUNS },
    );
  });

  test('every command that the shell runs was found by the parser', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.array(pieces, { minLength: 1, maxLength: 10 }), (given) => {
        const line = `a ${given.join('')}`;
        const script = readPosixScript(line, shell);
        if (!script.understood) return;
        const known = script.commands.map(({ words }) => words.map(literal));
        for (const record of run(path, line)) {
          compared += 1;
          const found = known.some((words) => {
            // An expanded word can become any number of words.
            const open = words.indexOf(undefined);
            const sure = open === -1 ? words : words.slice(0, open);
            return (
              sure.every((word, index) => word === record[index]) && (open !== -1 || words.length === record.length)
            );
          });
          expect(found, `${JSON.stringify(line)} ran ${JSON.stringify(record)}`).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
    expect(compared).toBeGreaterThan(RUNS / 10);
  });
});
