// The commands and skills that ship with Earshot: /compact, and skills that the user runs by name.
import { failed } from '../../base/errors.ts';
import { listSkills, type Skill } from './skills.ts';

/** Handled by Earshot itself, unless a prompt file or a skill has the name. The text after it is its argument. */
export const BUILT_IN_COMMANDS = [
  { name: 'compact', description: 'Shorten the conversation to a summary; add what it must keep' },
] as const;

const COMPACT = /^\/compact(?:\s([\s\S]*))?$/;

/** What the summary must keep above all, as the user typed it; undefined: the message is not this command. */
export function compactFocus(typed: string): string | undefined {
  const found = COMPACT.exec(typed.trim());
  return found === null ? undefined : (found[1] ?? '').trim();
}

const INIT = `Write the file AGENTS.md at the root of this workspace: the notes that a coding agent needs before it changes something here.

1. Look first: the README, the manifests and their scripts, the CI configuration, the folder structure, the configuration of linters and formatters, and instruction files that exist already (AGENTS.md, CLAUDE.md, .github/copilot-instructions.md, .cursor/rules). Read some typical source files and tests.
2. Write down only what you found and what is not obvious from a file listing:
   - how to install, build, run and check the project; how to run a single test;
   - the parts, how they depend on each other, and where a change of each kind belongs;
   - conventions that the code follows and that a newcomer would break: naming, errors, tests, formatting, generated files;
   - traps: slow or dangerous commands, services and secrets that are needed, files that nobody may edit.
3. Verify the commands that are quick and change nothing. Leave out what you could not find out.
4. Keep it below 150 lines of plain Markdown. No general advice that is true for every project, no secrets.
5. If AGENTS.md exists, improve it: keep what is still right, correct what is not, and say what you changed.

\${input}`;

const REVIEW = `Review code like a careful colleague. Change nothing.

What to review: \${input}
If nothing is named, review the changes that are not committed; if there are none, those of the current branch against the branch that it came from; otherwise ask.

1. Read the whole diff, then the code around it: callers, tests, types and what it replaces. Run the checks that the project has, if they are quick.
2. Look for what would hurt: wrong results, cases that are not handled (empty, huge, parallel, failing, repeated), lost data, broken callers and formats, security, races, leaks, missing or empty tests, and differences between what the change says and does.
3. Check each finding in the code before you report it. Leave out matters of taste and what a formatter does.
4. Report the findings, the worst first. For each: severity (blocker, bug, risk, minor), file and line, what goes wrong and when, and a concrete fix. Then say what you checked without a finding and what you did not check. If there is nothing, say so.`;

const BUILT_IN_SKILLS: readonly Skill[] = [
  builtIn('init', 'Write or improve AGENTS.md: the notes that agents need for this project', INIT),
  builtIn('review', 'Review uncommitted changes, a branch or named files, without changing anything', REVIEW),
];

/** The skills that the user can run. A skill of the user or the workspace replaces a built-in one of the same name. */
export async function listCommandSkills(...args: Parameters<typeof listSkills>): Promise<readonly Skill[]> {
  const skills = await listSkills(...args);
  const names = new Set(skills.map(({ name }) => name));
  return [...skills, ...BUILT_IN_SKILLS.filter(({ name }) => !names.has(name))];
}

function builtIn(name: string, description: string, body: string): Skill {
  const read = async () => failed('not_found', `The skill ${name} has no files.`);
  return { name, description, body, text: body, folder: '', userOnly: true, read };
}
