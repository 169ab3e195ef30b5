// earshot-notify: sends one line from any script to the conversations of a folder, or to the one whose command it is.
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
// Node 18.0 has no parseArgs: an import by name would fail before the message that this version is too old.
import * as util from 'node:util';
import { describeError } from '../base/errors.ts';
import { CONVERSATION_VARIABLE, GRANT_VARIABLE } from '../node/scripts/notifyProgram.ts';
import { isNodeSupported } from '../node/olderNode.ts';
import { checkEntry, writeEntry } from '../node/scripts/scriptSpool.ts';
import { pokeWindows } from '../plugins/client/pokeWindows.ts';

const USAGE = `earshot-notify [--level info|warning|error] [--wake] [--name NAME] [--subject TEXT] [--key ID]
               [--to CONVERSATION] [--dir FOLDER] [--file PATH] [TEXT | -]
Sends TEXT (- reads it from the input, --file from a file) to the conversations of Earshot that have FOLDER open
(default: the current folder), or in a command of Earshot to the conversation that started it.
Exit codes: 0 queued, prints for how many conversations · 3 nobody takes it now, it is kept for them · 2 wrong usage
· 1 refused`;
const MOST_INPUT = 1_000_000;
const MOST_TEXT = 2000;

const OPTIONS = {
  level: { type: 'string', default: 'info' },
  wake: { type: 'boolean' },
  name: { type: 'string', default: 'line' },
  subject: { type: 'string' },
  key: { type: 'string' },
  to: { type: 'string' },
  dir: { type: 'string', default: '.' },
  file: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function run(): Promise<number> {
  const parsed = parse();
  if (typeof parsed === 'string') return complain(2, `${parsed}\n${USAGE}`);
  const { values, positionals } = parsed;
  if (values.help === true) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const text = await textOf(values.file, positionals);
  const own = process.env[CONVERSATION_VARIABLE];
  const to = values.to ?? own;
  const isOwn = own !== undefined && to === own;
  const checked = checkEntry({
    at: new Date().toISOString(),
    // The name that the disk has, whatever the case in which it was written.
    dir: realpathSync.native(values.dir),
    text: cut(text.trimEnd()),
    name: values.name,
    level: values.level,
    subject: values.subject,
    key: values.key,
    to,
    wake: values.wake,
    grant: isOwn ? process.env[GRANT_VARIABLE] : undefined,
  });
  if (!checked.ok) return complain(2, checked.reason);
  const id = await writeEntry(checked.entry);
  const count = await pokeWindows(id, checked.entry.dir, to !== undefined);
  process.stdout.write(count > 0 ? `${count}\n` : '0: kept until a window takes it\n');
  return count > 0 ? 0 : 3;
}

function parse() {
  try {
    return util.parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return describeError(error);
  }
}

async function textOf(file: string | undefined, words: readonly string[]): Promise<string> {
  if (file !== undefined) return (await readFile(file)).subarray(0, MOST_INPUT).toString('utf8');
  if (words.length > 1 || words[0] !== '-') return words.join(' ');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST_INPUT) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function cut(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT - 1)}…`;
}

function complain(code: number, text: string): number {
  process.stderr.write(`earshot-notify: ${text}\n`);
  return code;
}

if (isNodeSupported()) {
  run().then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      process.exitCode = complain(1, describeError(error));
    },
  );
}
