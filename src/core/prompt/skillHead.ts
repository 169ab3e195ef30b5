// Parses the text of a SKILL.md, its head (the part of YAML that Agent Skills use) and its body, and checks both.
import { failed, type Result, succeeded } from '../../base/errors.ts';

export interface SkillText {
  readonly name: string;
  /** On one line. */
  readonly description: string;
  /** Only the user may use the skill; it is not offered to the model. */
  readonly userOnly: boolean;
  readonly body: string;
}

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 1024;
/** The most lines of a head, which usually has only a few. */
const MOST_LINES = 500;
const LINE_END = /\r\n|\n|\r/;

/** `folder`: the name of the skill's folder, which must equal the skill's name. */
export function parseSkill(folder: string, text: string): Result<SkillText> {
  const lines = text.split(LINE_END);
  if (lines[0]?.trimEnd() !== '---') return invalid('it has no head: the first line must be ---');
  const end = lines.slice(0, MOST_LINES).findIndex((line, index) => index > 0 && line.trimEnd() === '---');
  if (end === -1) return invalid('its head does not end: a second line --- is missing');
  const head = readHead(lines.slice(1, end));
  const name = head.get('name')?.trim() ?? '';
  if (name === '') return invalid('name is missing');
  if (name.length > LONGEST_NAME || !NAME.test(name)) {
    return invalid('name must be at most 64 lower-case letters, digits and single hyphens');
  }
  if (name !== folder) return invalid('name is not the name of its folder');
  const description = oneLine(head.get('description') ?? '');
  if (description === '') return invalid('description is missing');
  if (description.length > LONGEST_DESCRIPTION) return invalid('description is longer than 1024 characters');
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim();
  return succeeded({ name, description, userOnly: head.get('disable-model-invocation')?.trim() === 'true', body });
}

function invalid(why: string): Result<never> {
  return failed('bad_skill', `This is not a valid skill: ${why}.`);
}

function oneLine(text: string): string {
  return text.split(/\s+/).join(' ').trim();
}

/** The top-level texts, by their names. Lists and nested values are skipped. */
function readHead(lines: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < lines.length; ) {
    const colon = lines[at]?.indexOf(':') ?? -1;
    const line = lines[at] ?? '';
    let next = at + 1;
    while (next < lines.length && belongsToValue(lines[next] ?? '')) next += 1;
    if (/^[A-Za-z]/.test(line) && colon > 0) {
      const key = line.slice(0, colon).trim();
      if (!found.has(key)) found.set(key, readValue(line.slice(colon + 1).trim(), lines.slice(at + 1, next)));
    }
    at = next;
  }
  return found;
}

function belongsToValue(line: string): boolean {
  return line.trim() === '' || line.startsWith(' ') || line.startsWith('\t');
}

function readValue(first: string, rest: readonly string[]): string {
  if (first.startsWith('|') || first.startsWith('>')) {
    return rest.map((line) => line.trim()).join(first.startsWith('|') ? '\n' : ' ');
  }
  const whole = [first, ...rest.map((line) => line.trim())].join(' ').trim();
  if (whole.startsWith('"')) return unquote(whole);
  if (whole.startsWith("'")) return (/^'((?:[^']|'')*)'/.exec(whole)?.[1] ?? '').replaceAll("''", "'");
  const comment = whole.indexOf(' #');
  return comment === -1 ? whole : whole.slice(0, comment);
}

function unquote(text: string): string {
  const quoted = /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0];
  try {
    const value: unknown = JSON.parse(quoted ?? '""');
    return typeof value === 'string' ? value : '';
  } catch {
    return quoted?.slice(1, -1) ?? '';
  }
}
