// The tool load_skill: shows the instructions of a skill, or another file of its folder.
import * as z from 'zod';
import { describeFailure } from '../base/errors.ts';
import { wholeCharacters } from '../base/text.ts';
import { type Tool } from '../core/ports/ports.ts';
import { type UserFiles } from '../core/ports/userFiles.ts';
import { describeSkill, listSkills } from '../core/prompt/skills.ts';
import { answer, defineTool, refuse } from './defineTool.ts';

const MOST_AT_ONCE = 24_000;

export function createLoadSkillTool({ userFiles }: { readonly userFiles?: UserFiles | undefined }): Tool {
  return defineTool({
    name: 'load_skill',
    description:
      'Returns the instructions of a skill, or with file another text file of its folder. Without a name it lists all skills. Returns at most 24,000 characters; continue with start. You are notified when a skill changes.',
    effect: 'read',
    traits: { loadsSkills: true },
    arguments: {
      name: z.string().min(1).max(64).optional().describe('The name of the skill; default: list all'),
      file: z
        .string()
        .min(1)
        .max(1000)
        .optional()
        .describe('Path in the folder of the skill, for example reference.md'),
      start: z.int().min(0).optional().describe('Character to continue at, as given by the previous result; default 0'),
    },
    run: async ({ name, file, start = 0 }, { workspace }) => {
      const skills = (await listSkills(workspace, userFiles)).filter(({ userOnly }) => !userOnly);
      if (name === undefined) return list(skills.map(describeSkill).join('\n'), start);
      const skill = skills.find((candidate) => candidate.name === name);
      if (skill === undefined) {
        const names = wholeCharacters(skills.map((one) => one.name).join(', '), 2000);
        return refuse(
          'not_found',
          `name: there is no skill ${name}. ${names === '' ? 'There are none.' : `There are: ${names}.`}`,
        );
      }
      if (file === undefined) {
        const head = `Skill ${name}. Its folder is ${skill.folder}; load_skill with file reads what is in it.`;
        return show(`${head}\n\n${skill.body}`, start);
      }
      const text = await skill.read(file);
      return text.ok ? show(text.value, start) : refuse(text.failure.code, `file: ${describeFailure(text.failure)}`);
    },
  });
}

function list(text: string, start: number) {
  return text === '' ? answer('There are no skills.') : show(text, start);
}

function show(text: string, start: number) {
  if (start > 0 && start >= text.length)
    return refuse('bad_arguments', `start: there are only ${text.length} characters.`);
  const shown = wholeCharacters(text.slice(start), MOST_AT_ONCE);
  const end = start + shown.length;
  const more = end < text.length ? `\n(${end} of ${text.length} characters; continue with start ${end}.)` : '';
  return answer(`${shown}${more}`);
}
