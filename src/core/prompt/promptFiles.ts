// Expands a slash command: `/name …` becomes the text of a prompt file or a skill of the workspace, the user or Earshot.
import { type Failure, type Result, succeeded } from '../../base/errors.ts';
import { decodeText } from '../../base/text.ts';
import { type UserFiles } from '../ports/userFiles.ts';
import { type Workspace } from '../ports/workspace.ts';
import { listCommandSkills } from './builtInSkills.ts';

const FOLDER = '.github/prompts';
const USER_FOLDER = 'prompts';
const SUFFIX = '.prompt.md';
const COMMAND = /^\/(\w[\w.-]*)(?:\s([\s\S]*))?$/;
const LARGEST = 1024 * 1024;

export interface PromptFile {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

/**
 * Prompts of the workspace take precedence over the user's of the same name. `refused`: why a prompt may not be read,
 * by its name.
 */
export async function listPrompts(
  workspace: Workspace,
  userFiles: UserFiles | undefined,
  refused = new Map<string, Failure>(),
): Promise<PromptFile[]> {
  const found = new Map<string, PromptFile>();
  for (const folder of workspace.folders) {
    const path = folder.path === '' ? FOLDER : `${folder.path}/${FOLDER}`;
    const place = { path, absolute: `${folder.absolute.replace(/[\\/]$/, '')}/${FOLDER}` };
    const entries = await workspace.list(place);
    for (const { name } of entries.ok ? entries.value : []) {
      if (!name.endsWith(SUFFIX)) continue;
      const file = { path: `${path}/${name}`, absolute: `${place.absolute}/${name}` };
      const content = await workspace.read(file, { atMost: LARGEST });
      if (!content.ok) refused.set(name.slice(0, -SUFFIX.length), content.failure);
      const text = content.ok ? decodeText(content.value.bytes) : undefined;
      if (text !== undefined) keep(found, name, text);
    }
  }
  for (const name of (await userFiles?.list(USER_FOLDER)) ?? []) {
    if (!name.endsWith(SUFFIX)) continue;
    const text = await userFiles?.read(`${USER_FOLDER}/${name}`);
    if (text !== undefined) keep(found, name, text);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function keep(found: Map<string, PromptFile>, file: string, text: string): void {
  const name = file.slice(0, -SUFFIX.length);
  if (!found.has(name)) found.set(name, { name, ...readPrompt(text) });
}

/** The head between two lines of dashes is for editors; only its description is used. */
export function readPrompt(text: string): { description: string; body: string } {
  const head = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  const description = /^description:(.*)$/m.exec(head?.[1] ?? '')?.[1] ?? '';
  return {
    description: description.trim().replace(/^(['"])(.*)\1$/, '$2'),
    body: text.slice(head?.[0].length ?? 0).trim(),
  };
}

/**
 * The text to send for a typed text. A slash that names neither a prompt nor a skill is plain text, since paths begin
 * with one, too. Fails for a prompt or a skill whose file may not be read.
 */
export async function expandPrompt(
  typed: string,
  workspace: Workspace,
  userFiles: UserFiles | undefined,
): Promise<Result<string>> {
  const [, name, rest = ''] = COMMAND.exec(typed.trim()) ?? [];
  if (name === undefined) return succeeded(typed);
  const refused = new Map<string, Failure>();
  const prompt = (await listPrompts(workspace, userFiles, refused)).find((candidate) => candidate.name === name);
  const failure = refused.get(name);
  if (failure !== undefined) return { ok: false, failure };
  if (prompt !== undefined) return succeeded(fill(prompt.body, rest.trim()));
  const skill = await expandSkill(name, workspace, userFiles);
  return skill.ok ? succeeded(skill.value === undefined ? typed : fill(skill.value, rest.trim())) : skill;
}

async function expandSkill(
  name: string,
  workspace: Workspace,
  userFiles: UserFiles | undefined,
): Promise<Result<string | undefined>> {
  const refused = new Map<string, Failure>();
  const skills = await listCommandSkills(workspace, userFiles, (path, failure) =>
    refused.set(path.split('/').at(-2) ?? '', failure),
  );
  const skill = skills.find((candidate) => candidate.name === name);
  if (skill?.folder === '') return succeeded(skill.body);
  if (skill !== undefined) return succeeded(`Use the skill ${name} (its folder is ${skill.folder}):\n\n${skill.body}`);
  const failure = refused.get(name);
  return failure === undefined ? succeeded(undefined) : { ok: false, failure };
}

/**
 * VS Code uses `${input}` and `${input:name}`, other editors `$ARGUMENTS`. Without a placeholder the arguments follow
 * the text.
 */
function fill(body: string, args: string): string {
  const places = /\$\{input(?::[^}]{0,200})?\}|\$ARGUMENTS\b/g;
  if (places.test(body)) return body.replace(places, () => args);
  return args === '' ? body : `${body}\n\n${args}`;
}
