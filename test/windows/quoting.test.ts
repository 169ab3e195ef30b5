// Command lines through the real cmd.exe: what a user writes at its prompt is what runs.
import { deepEqual, equal } from 'node:assert/strict';
import { type ChildProcess } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnShell } from '../../src/node/processTree.ts';
import { shellProgram } from '../../src/node/shellProgram.ts';
import { isFull } from '../support/runs.ts';
import { temporaryFolder, test } from './support.ts';

const shell = shellProgram(process.env['ComSpec'] ?? 'cmd.exe');
const folder = join(temporaryFolder(), 'a folder (x86) & more');
mkdirSync(folder);
const LINES = 500;
const TOGETHER = isFull ? 1 : 25;
/** What means something to cmd.exe outside quotes; `%` and quotes mean something inside them too. */
const PIECES = [...Array.from("aB &|<>^()!,;=\\'`$*?~{}[]#@"), '  ', '\\\\'];

function run(command: string): Promise<{ code: number | null; text: string }> {
  const child = start(command);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })));
}

/** On a busy machine Wine sometimes refuses to start a program, which says nothing about its command line. */
function start(command: string, tries = 3): ChildProcess {
  try {
    return spawnShell({ command, shell, folder, env: process.env, input: false });
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

/** As the C library of Windows splits a command line; inside quotes cmd.exe takes everything but `%` and `"` literally. */
function quote(word: string): string {
  return `"${word.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
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

test(`${LINES} random command lines reach their programs unchanged`, async () => {
  const say = join(folder, 'say (1).bat');
  writeFileSync(say, '@echo got %*\r\n');
  const next = random(20_261_118);
  const words = () =>
    Array.from({ length: 1 + Math.floor(next() * 3) }, () =>
      Array.from({ length: Math.floor(next() * 8) }, () => PIECES[Math.floor(next() * PIECES.length)]).join(''),
    );
  const lines = Array.from({ length: LINES }, () =>
    words()
      .map((word) => `"${word}"`)
      .join(' '),
  );
  // A start takes longest, so one line has several commands; each line begins and ends with a quote.
  for (let at = 0; at < LINES; at += TOGETHER) {
    const group = lines.slice(at, at + TOGETHER);
    const { code, text } = await run(group.map((line) => `"${say}" ${line}`).join(' & call '));
    deepEqual([code, ...got(text)], [0, ...group]);
  }
});

test('a program gets exactly the arguments that were quoted for it', async () => {
  const node = join(folder, 'the node.exe');
  copyFileSync(process.execPath, node);
  const show = join(folder, 'show.js');
  writeFileSync(show, 'console.log(JSON.stringify(process.argv.slice(2)))');
  const words = ['', 'a b', 'c:\\x\\', 'say "hi"', 'a&b|c<d>e', '^', '100%', 'ä'];
  const line = [node, show, ...words].map(quote).join(' ');
  deepEqual(JSON.parse((await run(line)).text), words);
});

function got(text: string): readonly string[] {
  return text.split('\r\n').flatMap((line) => (line.startsWith('got ') ? [line.slice(4).trimEnd()] : []));
}
