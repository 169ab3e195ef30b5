// Prints errors: expected ones as a message with the next step, bugs with their stack trace.

/**
 * An expected problem, shown as a message with the next step, never as a stack trace.
 */
export class UserError extends Error {
  /**
   * @param {string} message what went wrong, as a complete sentence
   * @param {string} nextStep what the reader can do about it
   * @param {{ details?: string, exitCode?: number }} [more] details: lines of output that show the cause
   */
  constructor(message, nextStep, more = {}) {
    super(message);
    this.name = 'UserError';
    this.nextStep = nextStep;
    this.details = more.details ?? '';
    this.exitCode = more.exitCode ?? 1;
  }
}

/**
 * The text to show for a thrown value. Only bugs have a stack trace.
 *
 * @param {unknown} error
 * @returns {string}
 */
export function describeError(error) {
  if (error instanceof UserError) {
    const details = error.details === '' ? '' : `\n${indent(error.details)}`;
    return `${error.message}${details}\n→ ${error.nextStep}`;
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `Unexpected error, please report it:\n${cause}`;
}

/**
 * @param {string} text
 * @returns {string}
 */
export function indent(text) {
  return text.replace(/^(?=.)/gm, '    ');
}
