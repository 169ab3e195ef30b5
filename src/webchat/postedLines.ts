// Lines that programs POST: checked by a token of their own, limited, and put into the spool like those of scripts.
import { type IncomingHttpHeaders } from 'node:http';
import { parseObject } from '../base/json/outsideJson.ts';
import {
  type CheckedEntry,
  checkEntry,
  notifyToken,
  type SpoolEntry,
  writeEntry,
} from '../node/scripts/scriptSpool.ts';
import { pokeWindows } from '../plugins/client/pokeWindows.ts';
import { bearerOf, isSameSecret } from './access.ts';

const MOST_A_MINUTE = 30;
const MINUTE_MILLISECONDS = 60_000;
const MOST_TEXT = 2000;
/** As ntfy has them: 1 and 2 are low, 4 and 5 high. */
const PRIORITIES: Readonly<Record<string, SpoolEntry['level']>> = {
  4: 'warning',
  5: 'error',
  high: 'warning',
  urgent: 'error',
};

export type PostAnswer =
  | { readonly status: 202; readonly queued: number }
  | { readonly status: 400 | 401 | 413 | 429; readonly reason: string };

export interface PostedLinesDeps {
  /** The folder of the window. */
  readonly folder: string;
  readonly home?: string;
  now(): number;
}

export class PostedLines {
  readonly #deps: PostedLinesDeps;
  #recent: number[] = [];

  constructor(deps: PostedLinesDeps) {
    this.#deps = deps;
  }

  async receive(headers: IncomingHttpHeaders, readBody: () => Promise<string | undefined>): Promise<PostAnswer> {
    const { folder, home, now } = this.#deps;
    const given = bearerOf(headers);
    if (given === undefined) return { status: 401, reason: 'The token is missing.' };
    if (!isSameSecret(given, await notifyToken(home))) return { status: 401, reason: 'The token is wrong.' };
    this.#recent = this.#recent.filter((at) => now() - at < MINUTE_MILLISECONDS);
    if (this.#recent.length >= MOST_A_MINUTE)
      return { status: 429, reason: `At most ${MOST_A_MINUTE} lines a minute.` };
    this.#recent.push(now());
    const body = await readBody();
    if (body === undefined) return { status: 413, reason: 'A line has at most 64 KB.' };
    const checked = readLine(body, headers, folder, new Date(now()).toISOString());
    if (!checked.ok) return { status: 400, reason: `${checked.reason}.` };
    const { entry } = checked;
    const id = await writeEntry(entry, home);
    return { status: 202, queued: await pokeWindows(id, entry.dir, entry.to !== undefined, home) };
  }
}

/** Text, or JSON with the fields of earshot-notify. Never a grant: only the user's settings let it wake the model. */
function readLine(body: string, headers: IncomingHttpHeaders, dir: string, at: string): CheckedEntry {
  const isJson = /^application\/json(?:;|$)/.test(headers['content-type'] ?? '');
  const given = isJson ? parseObject(body) : { text: body.trimEnd().slice(0, MOST_TEXT) };
  if (given === undefined) return { ok: false, reason: 'the body is no JSON object' };
  const { text, level, name, subject, key, to, wake } = given as Readonly<Record<string, unknown>>;
  const priority = PRIORITIES[String(headers['priority'])];
  return checkEntry({
    ...{ at, dir, text, key, to },
    level: level ?? priority ?? 'info',
    name: name ?? 'post',
    subject: subject ?? headers['title'],
    wake: wake === false ? undefined : wake,
  });
}
