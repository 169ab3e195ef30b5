// Bounds the size of one answer of any model: text, reasoning and calls together.
import { type Failure } from '../../base/errors.ts';
import { type ModelPart } from '../ports/ports.ts';

/** In characters: eight times the longest answers that models give today. */
const MOST_ANSWER_CHARACTERS = 4 * 1024 * 1024;

/** Returns a function that says for each part whether the answer is still within the limit. */
export function createAnswerBound(): (part: ModelPart) => boolean {
  let [shown, called] = [0, 0];
  return (part) => {
    // A call arrives whole after its streamed pieces, so the two are counted separately.
    if (part.type === 'tool_call') called += part.id.length + part.name.length + part.arguments.length;
    else if ('text' in part) shown += part.text.length;
    return Math.max(shown, called) <= MOST_ANSWER_CHARACTERS;
  };
}

export const answerTooLong: Failure = {
  code: 'answer_too_long',
  message: `The model’s answer was cut off after ${MOST_ANSWER_CHARACTERS.toLocaleString('en')} characters.`,
  nextStep:
    'Ask for less at once, or choose another model with Earshot: Choose Model. An answer that repeats itself without end can be limited with maxTokens in earshot.models.',
};
