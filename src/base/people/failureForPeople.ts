// Describes failures to people, in their language. Messages and next steps of failures that also a model or another
// program can get name arguments and tools, which people do not know.
import { type Failure } from '../errors.ts';
import { failureText } from '../failureTexts.ts';
import { knownToolLabel } from '../toolLabels.ts';
import { type Translate, translateSentence } from './sentences.ts';

/** The part of a request that a message is about: `attachments.0: `, `content: `. */
const FIELD = /^[a-z_]+(?:\.\d+)?: /;

/** If its sentence is not known in the language of the window, what failed is said in that language before it. */
export function failureForPeople({ code, message, nextStep }: Failure, translate: Translate): string {
  const sentence = withoutField(message);
  const translated = translateSentence(sentence, translate);
  const kind = failureText(code);
  const isKindKnown = kind !== undefined && translate(kind) !== kind;
  const said = translated === sentence && isKindKnown ? `${translate(kind)} ${sentence}` : translated;
  return nextStep === undefined || isForModel(nextStep) ? said : `${said} ${translateSentence(nextStep, translate)}`;
}

/** What follows a field begins in lower case; any other message is a sentence, or begins with an address or a name. */
export function withoutField(message: string): string {
  const text = message.replace(FIELD, '');
  return text !== message && /^[a-z]+ /.test(text) ? text.slice(0, 1).toUpperCase() + text.slice(1) : text;
}

export function isForModel(nextStep: string): boolean {
  if (/\bthe user\b/i.test(nextStep)) return true;
  return nextStep.split(/\W+/).some((word) => word.includes('_') && knownToolLabel(word) !== undefined);
}
