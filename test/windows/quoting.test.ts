// Command lines through the real cmd.exe: what a user writes at its prompt is what runs.
import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnShell } from '../../src/node/processTree.ts';
import { shellProgram } from '../../src/node/shellProgram.ts';
import { isFull } from '../support/runs.ts';
import { temporaryFolder, test } from './support.ts';

const shell = shellProgram(process.env['ComSpec'] ?? 'cmd.exe');
const folder = join(temporaryFolder(), 'a folder (x86) & more');
mkdirSync(folder);
const LINES = 500;
/** A start takes longest, so one line has several commands. */
const TOGETHER = isFull ? 1 : 25;
const env = { ...process.env, TEAPOT: 'green' };

function run(command: string): Promise<{ code: number | null; text: string }> {
  const child = start(command);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}

/** On a busy machine Wine sometimes refuses to start a program, which says nothing about its command line. */
function start(command: string, tries = 3): ChildProcess {
  try {
    return spawnShell({ command, shell, folder, env, input: false });
  } catch (error) {
    if (tries === 1 || (error as NodeJS.ErrnoException).code !== 'UNKNOWN') throw error;
    return start(command, tries - 1);
  }
}

/** Repeatable. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A part of a word: as it is written at the prompt of cmd.exe, and as the program gets it. */
type Part = readonly [written: string, meant: string];

/**
 * Between quotes cmd.exe takes everything but `%` and `"` literally; a backslash before a quote is written twice. Without
 * `%` there, without a single one anywhere, and without `^` after a quote: these the cmd.exe of Wine misreads.
 */
const QUOTED: readonly Part[] = [
  ...Array.from("aB &|<>^()!,;='`$*?~{}[]#@", (one): Part => [one, one]),
  ...['  ', '\\x'].map((one): Part => [one, one]),
];
/** Outside quotes. */
const PLAIN: readonly Part[] = Array.from("aB1!,;='`$*?~{}[]#@-./+", (one) => [one, one]);
const BARE: readonly Part[] = [
  ...PLAIN,
  ...Array.from('&|<>^()!a', (one): Part => [`^${one}`, one]),
  ...['\\x', '%NOPE%'].map((one): Part => [one, one]),
  ['%TEAPOT%', 'green'],
];
const ENDING: Part = ['\\\\', '\\'];

function someOf(parts: readonly Part[], { least, most }: { least: number; most: number }, next: () => number): Part {
  const count = least + Math.floor(next() * (most + 1 - least));
  return joined(Array.from({ length: count }, () => parts[Math.floor(next() * parts.length)] ?? ['', '']));
}

function joined(parts: readonly Part[]): Part {
  return [parts.map(([written]) => written).join(''), parts.map(([, meant]) => meant).join('')];
}

/** A word without quotes, or of unquoted and quoted pieces in turn: a quote right after another one would be a quote for the program. */
function word(start: string, next: () => number): Part {
  if (next() < 0.5) return joined([[start, start], someOf(BARE, { least: 0, most: 12 }, next)]);
  const pieces = Array.from({ length: 1 + Math.floor(next() * 2) }, (): Part => {
    const ending: Part = next() < 0.2 ? ENDING : ['', ''];
    const [written, meant] = joined([someOf(QUOTED, { least: 0, most: 6 }, next), ending]);
    return joined([someOf(PLAIN, { least: 1, most: 4 }, next), [`"${written}"`, meant]]);
  });
  return joined([[start, start], ...pieces, someOf(PLAIN, { least: 0, most: 4 }, next)]);
}

/** As the C library of Windows splits a command line; inside quotes cmd.exe takes everything but `%` and `"` literally. */
function quote(text: string): string {
  return `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}

test('exit codes are those of the command', async () => {
  equal((await run('exit 7')).code, 7);
  equal((await run('cmd /c exit 300')).code, 300);
  equal((await run('no-such-program-here')).code !== 0, true);
});

test('a command that begins with a quoted path and has more quotes keeps all of them', async () => {
  const script = join(folder, 'say.bat');
  writeFileSync(script, '@echo got %1 %2\r\n');
  const { text, code } = await run(`"${script}" "one two" "three"`);
  deepEqual([text.trim(), code], ['got "one two" "three"', 0]);
});

test(`${LINES} random command lines reach their program as they are written at the prompt`, async () => {
  const next = random(20_261_118);
  // A program of the system that starts quickly, and keeps two of its arguments where they can be read.
  const key = `HKCU\\Software\\Earshot-test-${process.pid}`;
  const lines = Array.from({ length: LINES }, (_, at) => {
    const [name, data] = [word(`n${at}-`, next), word('d', next)];
    return { line: `reg add ${key} /f /v ${name[0]} /d ${data[0]}`, kept: `    ${name[1]}    REG_SZ    ${data[1]}` };
  });
  for (let at = 0; at < LINES; at += TOGETHER) {
    await run(
      lines
        .slice(at, at + TOGETHER)
        .map(({ line }) => line)
        .join(' & '),
    );
  }
  const keptNow = async () => {
    const { text } = await run(`reg query ${key}`);
    return new Map(text.split('\r\n').map((one) => [/^ {4}n(\d+)-/.exec(one)?.[1], one]));
  };
  // Of a line with several commands nobody says that one could not be started, as on a busy machine.
  const first = await keptNow();
  for (const [at, { line }] of lines.entries()) if (!first.has(String(at))) await run(line);
  const kept = await keptNow();
  await run(`reg delete ${key} /f`);
  const wrong = lines.flatMap((one, at) => (kept.get(String(at)) === one.kept ? [] : [[one, kept.get(String(at))]]));
  deepEqual(wrong, []);
});

test('random command lines give a Node program exactly the arguments that they say', async () => {
  const show = join(folder, 'show argv.js');
  const shown = join(folder, 'argv.txt');
  writeFileSync(
    show,
    `require('node:fs').appendFileSync(${JSON.stringify(shown)}, JSON.stringify(process.argv.slice(2)) + '\\n')`,
  );
  const next = random(7);
  const commands = Array.from({ length: isFull ? LINES : 20 }, (_, at) => [
    [String(at), String(at)] as Part,
    ...Array.from({ length: 1 + Math.floor(next() * 4) }, () => word('w', next)),
  ]);
  const line = (words: readonly Part[]) =>
    [quote(process.execPath), quote(show), ...words.map(([one]) => one)].join(' ');
  for (let at = 0; at < commands.length; at += TOGETHER)
    await run(
      commands
        .slice(at, at + TOGETHER)
        .map(line)
        .join(' & '),
    );
  const got = () => {
    const all = existsSync(shown) ? readFileSync(shown, 'utf8').trim().split('\n') : [];
    return new Map(all.map((one) => [Number((JSON.parse(one) as string[])[0]), one]));
  };
  const first = got();
  for (const [at, words] of commands.entries()) if (!first.has(at)) await run(line(words));
  const last = got();
  const meant = commands.map((words) => JSON.stringify(words.map(([, one]) => one)));
  deepEqual(
    commands.map((_, at) => last.get(at)),
    meant,
  );
});

test('a program gets exactly the arguments that were quoted for it', async () => {
  const node = join(folder, 'the node.exe');
  copyFileSync(process.execPath, node);
  const show = join(folder, 'show.js');
  writeFileSync(show, 'console.log(JSON.stringify(process.argv.slice(2)))');
  const words = ['', 'a b', 'c:\\x\\', 'say "hi"', 'a&b|c<d>e', '^', '100%', 'ä'];
  const line = [node, show, ...words].map(quote).join(' ');
  deepEqual(JSON.parse((await run(line)).text), words);
  deepEqual(JSON.parse((await run(`${[node, show].map(quote).join(' ')} "a %TEAPOT% b" 5%`)).text), [
    'a green b',
    '5%',
  ]);
});
