// Writes a bug report about one request: the versions, the request and the lines of the log around it, with secrets masked
// and paths relative. Pure.
import { maskSecrets } from '../../base/secrets/maskSecrets.ts';
import { type LogEvent } from '../../protocol/event.ts';

export interface BugReportInput {
  /** Earshot's. */
  readonly version: string;
  /** Versions of the editor and the system. */
  readonly host: string;
  /** What is known about the request, a line each. */
  readonly about: readonly string[];
  /** The body, as JSON. */
  readonly body: string;
  readonly events: readonly LogEvent[];
  /** The event of the model call. */
  readonly seq: number;
  /** The conversation's secret. */
  readonly key: string;
  /** Absolute paths, each with what is written instead; longer ones first. */
  readonly places: readonly (readonly [path: string, written: string])[];
}

const LINES_BEFORE = 20;
const LINES_AFTER = 5;

export function writeBugReport({ version, host, about, body, events, seq, key, places }: BugReportInput): string {
  const clean = (text: string) => {
    const relative = places.reduce((done, [path, written]) => replacePath(done, path, written), text);
    return maskSecrets(key === '' ? relative : relative.replaceAll(key, '***'));
  };
  const printed = (value: unknown, indent?: number) => JSON.stringify(mapStrings(value, clean), null, indent);
  const at = events.findIndex((event) => event.seq === seq);
  const around = at === -1 ? [] : events.slice(Math.max(0, at - LINES_BEFORE), at + 1 + LINES_AFTER);
  return [
    '# Earshot: bug report',
    '',
    `- Earshot ${version}`,
    `- ${host}`,
    ...about.map((line) => `- ${clean(line)}`),
    '',
    '## Request',
    '',
    fenced('json', printed(JSON.parse(body), 2)),
    '',
    '## Log',
    '',
    fenced('jsonl', around.map((event) => printed(event)).join('\n')),
    '',
  ].join('\n');
}

/** Not where it is only the beginning or the end of another name. */
function replacePath(text: string, path: string, written: string): string {
  const literal = path.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&');
  const whole = new RegExp(`(?<![\\p{L}\\p{N}_-])${literal}(?!\\.?[\\p{L}\\p{N}_]|-)`, 'gu');
  return text.replace(whole, () => written);
}

/** The fence is longer than any in the text. */
function fenced(language: string, text: string): string {
  let fence = '```';
  while (text.includes(fence)) fence += '`';
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Secrets are masked in the decoded texts: in JSON, an escaped line end would be taken for a part of one. */
function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapStrings(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [change(name), mapStrings(one, change)]));
}
