// Validates names of handles, and makes a free name from a text.
import { type Failure } from '../../base/errors.ts';
import { describeHandleState } from './handleTexts.ts';

const HANDLE_NAME = /^[A-Za-z0-9][\w.-]{0,39}$/;

interface NameUse {
  /** Another call is about to use it. */
  readonly isReserved: boolean;
  /** The handle with this name. */
  readonly known: Parameters<typeof describeHandleState>[0] | undefined;
}

/** Why this cannot be the name of a new handle; undefined: it can. */
export function whyNotFree(name: string, { isReserved, known }: NameUse): Failure | undefined {
  if (!HANDLE_NAME.test(name)) {
    const message = `handle: “${name}” is no name for a handle: use up to 40 letters, digits, dots, hyphens and underscores.`;
    return { code: 'bad_arguments', message };
  }
  if (isReserved) return taken(`handle: another call just starts a handle “${name}”.`, 'Choose another name.');
  if (known === undefined || known.hasEnded) return undefined;
  const message = `handle: there is a handle “${name}” already, ${describeHandleState(known)}.`;
  return taken(message, 'Choose another name, or abort it first.');
}

function taken(message: string, nextStep: string): Failure {
  return { code: 'name_taken', message, nextStep };
}

/** `npm run build` → `npm-run-build`, or `npm-run-build-2`. */
export function freeHandleName(text: string, isTaken: (name: string) => boolean): string {
  const words = text
    .slice(0, 200)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const base = words.slice(0, 24).replace(/-$/, '') || 'command';
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!isTaken(name)) return name;
  }
}
