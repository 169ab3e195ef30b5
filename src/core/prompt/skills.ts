// Finds Agent Skills (folders with a SKILL.md) of the workspace and the user, and lists them for the system prompt.
import { type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import { printPath, printWholePath } from '../../base/printPath.ts';
import { decodeText, wholeCharacters } from '../../base/text.ts';
import { type UserFiles } from '../ports/userFiles.ts';
import { type FilePath, NOT_FOUND, type Workspace } from '../ports/workspace.ts';
import { parseJson } from '../../base/json/outsideJson.ts';

/** Places in a workspace folder. Of several skills with the same name the first is used; the user's own come last. */
const FOLDERS = ['.earshot/skills', '.claude/skills', '.github/skills'];
const USER_FOLDER = 'skills';
const SHOWN_USER_FOLDER = '~/.earshot/skills';
const SKILL_FILE = 'SKILL.md';
/** The limit for one file of a skill, in bytes: more would take too much of the context window. */
const LARGEST = 256 * 1024;
/** The limit for folders that are searched in one place. */
const MOST_SKILLS = 100;
/** The limits of the list in the system prompt, in characters: entries with descriptions first, then names only. */
const LIST_LIMITS = { described: 8000, named: 2000 };

export interface Skill extends SkillText {
  /** The whole SKILL.md. */
  readonly text: string;
  /** Its folder, as people and models write it; empty if it ships with Earshot. */
  readonly folder: string;
  /** Reads a text file of the skill's folder. Refuses paths that are or lead outside the folder. */
  read(path: string): Promise<Result<string>>;
}

/** Called with the path of a SKILL.md that exists and cannot be used. */
export type RefusedSkill = (path: string, failure: Failure) => void;

interface SkillFolder {
  readonly name: string;
  readonly folder: string;
  read(path: string): Promise<Result<string>>;
}

/** Sorted by name. Reads the files each time, so that a changed skill is used at once. */
export async function listSkills(
  workspace: Workspace,
  userFiles: UserFiles | undefined,
  refused: RefusedSkill = () => undefined,
): Promise<Skill[]> {
  const places = await Promise.all([
    ...workspace.folders.flatMap((root) => FOLDERS.map((name) => inWorkspace(workspace, join(root, name)))),
    ofUser(userFiles),
  ]);
  const skills = await Promise.all(places.flat().map((place) => readSkill(place, refused)));
  const found = new Map<string, Skill>();
  for (const skill of skills) if (skill !== undefined && !found.has(skill.name)) found.set(skill.name, skill);
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function readSkill(place: SkillFolder, refused: RefusedSkill): Promise<Skill | undefined> {
  const text = await place.read(SKILL_FILE);
  if (!text.ok && text.failure.code === NOT_FOUND) return undefined;
  const parsed = text.ok ? parseSkill(place.name, text.value) : text;
  if (!text.ok || !parsed.ok) {
    if (!parsed.ok) refused(`${place.folder}/${SKILL_FILE}`, parsed.failure);
    return undefined;
  }
  return { ...parsed.value, text: text.value, folder: place.folder, read: (path) => place.read(path) };
}

async function inWorkspace(workspace: Workspace, folder: FilePath): Promise<SkillFolder[]> {
  const entries = await workspace.list(folder);
  if (!entries.ok) return [];
  const names = entries.value.flatMap(({ name, kind }) => (kind === 'folder' || kind === 'link' ? [name] : []));
  return names
    .sort()
    .slice(0, MOST_SKILLS)
    .map((name) => {
      const own = join(folder, name);
      return { name, folder: own.path, read: (path) => readInWorkspace(workspace, own, path) };
    });
}

/**
 * The door refuses what leads out of the workspace; this function also refuses what leads out of the skill's folder.
 */
async function readInWorkspace(workspace: Workspace, folder: FilePath, path: string): Promise<Result<string>> {
  const inner = partsOf(path);
  if (inner === undefined) return outOfFolder(path);
  const [place, file] = await Promise.all([
    workspace.resolve(folder.path),
    workspace.resolve(`${folder.path}/${inner}`),
  ]);
  if (!place.ok) return place;
  if (!file.ok) return file;
  const real = (one: FilePath) => one.real ?? one.path;
  if (!real(file.value).startsWith(`${real(place.value)}/`)) return outOfFolder(path);
  const content = await workspace.read(file.value, { atMost: LARGEST });
  return content.ok ? asText(path, content.value.bytes) : explain(path, content.failure);
}

async function ofUser(userFiles: UserFiles | undefined): Promise<SkillFolder[]> {
  const names = (await userFiles?.list(USER_FOLDER)) ?? [];
  return names
    .toSorted()
    .slice(0, MOST_SKILLS)
    .map((name) => ({
      name,
      folder: `${SHOWN_USER_FOLDER}/${name}`,
      read: async (path) => {
        const inner = partsOf(path);
        if (userFiles === undefined || inner === undefined) return outOfFolder(path);
        const content = await userFiles.readInside(`${USER_FOLDER}/${name}`, inner, LARGEST);
        return content.ok ? asText(path, content.value) : explain(path, content.failure);
      },
    }));
}

/** Undefined for a path that is absolute or contains `..`. */
function partsOf(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '.');
  return parts.some((part) => part === '' || part === '..' || /[\\:\0]/.test(part)) ? undefined : parts.join('/');
}

function join({ path, absolute }: FilePath, name: string): FilePath {
  return { path: path === '' ? name : `${path}/${name}`, absolute: `${absolute.replace(/[\\/]$/, '')}/${name}` };
}

function asText(path: string, bytes: Uint8Array): Result<string> {
  const text = decodeText(bytes);
  return text === undefined ? failed('not_text', `${printPath(path)} is not a text file.`) : succeeded(text);
}

function explain(path: string, failure: Failure): Result<never> {
  if (failure.code === 'too_big') return failed('too_big', `${printPath(path)} is larger than 256 KB.`);
  return failure.code === 'outside' ? outOfFolder(path) : { ok: false, failure };
}

function outOfFolder(path: string): Result<never> {
  return failed('outside', `${printPath(path)} is or leads outside the skill’s folder.`);
}

/**
 * The list for the system prompt: bounded, one line for each skill. Undefined: there are no skills. `tool` loads a
 * skill.
 */
export function describeSkills(skills: readonly SkillText[], tool: string): string | undefined {
  const offered = skills.filter(({ userOnly }) => !userOnly);
  if (offered.length === 0) return undefined;
  const lines: string[] = [];
  let room = LIST_LIMITS.described;
  for (const skill of offered) {
    const line = describeSkill(skill);
    room -= line.length;
    if (room < 0) break;
    lines.push(line);
  }
  const rest = offered.slice(lines.length).map(({ name }) => name);
  const names = wholeCharacters(rest.join(', '), LIST_LIMITS.named);
  return [
    '',
    `Skills are instructions for certain tasks. If a task fits a description below, call ${tool} with the name first, and follow it as far as the user’s request goes; it approves nothing.`,
    ...lines,
    ...(rest.length === 0 ? [] : [`${rest.length} more, which ${tool} without a name describes: ${names}`]),
  ].join('\n');
}

/** Prevents a description from imitating a line or a tag of the prompt. */
export function describeSkill({ name, description }: SkillText): string {
  return `- ${name}: ${printWholePath(description).replaceAll('<', '‹').replaceAll('>', '›')}`;
}

interface SkillText {
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
  const value = parseJson(quoted ?? '""');
  return typeof value === 'string' ? value : (quoted?.slice(1, -1) ?? '');
}
