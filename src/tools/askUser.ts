// The tool ask_user: asks the user one question and waits for the answer.
import * as z from 'zod';
import { defined } from '../base/json/defined.ts';
import { answer, cancelled, defineTool, refuse } from './defineTool.ts';

const MOST_OPTIONS = 20;

export const askUserTool = defineTool({
  name: 'ask_user',
  description:
    'Asks the user one question and waits for the answer. Give options where possible; the user can write another answer. Ask only what you cannot find out.',
  effect: 'read',
  inquires: true,
  arguments: {
    question: z.string().trim().min(1).max(10_000).describe('The question, as shown to the user'),
    options: z
      .array(z.string().trim().min(1).max(1000))
      .min(2)
      .max(MOST_OPTIONS)
      .optional()
      .describe('2 to 20 answers to choose from, the recommended one first; default: the user writes freely'),
    several: z.boolean().optional().describe('The user may choose several options; default false'),
  },
  run: async ({ question, options, several }, { ask }) => {
    const twice = options?.find((option, index) => options.indexOf(option) !== index);
    if (twice !== undefined)
      return refuse('bad_arguments', `options: “${twice}” is there twice. Ask again with each of them once.`);
    if (several === true && options === undefined) {
      return refuse(
        'bad_arguments',
        'several: there are no options to choose from. Ask again with options, or without several.',
      );
    }
    const given = await ask({
      text: question,
      ...defined({ options, several }),
    });
    return given === undefined ? cancelled() : answer(describeAnswer(given, options));
  },
});

function describeAnswer(given: string | readonly string[], options: readonly string[] | undefined): string {
  const all = [given].flat().filter((one) => one.trim() !== '');
  if (all.length === 0) {
    return 'The user gave no answer. Go on as you think best and say what you assumed, or ask in another way.';
  }
  if (options === undefined) return `The user answered:\n${all.join('\n')}`;
  const chosen = all.filter((one) => options.includes(one));
  const written = all.filter((one) => !options.includes(one));
  return [
    ...(chosen.length === 0 ? [] : [`The user chose: ${chosen.map((one) => `“${one}”`).join(', ')}.`]),
    ...(written.length === 0 ? [] : [`The user wrote instead of an option:\n${written.join('\n')}`]),
  ].join('\n');
}
