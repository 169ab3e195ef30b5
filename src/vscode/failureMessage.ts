// Describes failures to people. Messages and next steps of failures that also a model or another program can get name
// arguments and tools, which people do not know.
import { type Failure } from '../base/errors.ts';
import { knownToolLabel } from '../base/toolLabels.ts';

/** The part of a request that a message is about: `attachments.0: `, `content: `. */
const FIELD = /^[a-z_]+(?:\.\d+)?: /;

export function failureMessage({ message, nextStep }: Failure): string {
  const text = message.replace(FIELD, '');
  // What follows a field begins in lower case; any other message is a sentence, or begins with an address or a name.
  const sentence = text === message ? message : text.slice(0, 1).toUpperCase() + text.slice(1);
  return nextStep === undefined || isForModel(nextStep) ? sentence : `${sentence} ${nextStep}`;
}

function isForModel(nextStep: string): boolean {
  if (/\bthe user\b/i.test(nextStep)) return true;
  return nextStep.split(/\W+/).some((word) => word.includes('_') && knownToolLabel(word) !== undefined);
}
