// Parses the output of a terminal's last command from the text of the editor's own tool.

const COMMAND = 'The following is the last command run in the terminal:\n';
const EXIT_CODE = /^It exited with code: (-?\d+)$/m;
const OUTPUT = /^It has the following output:\n/m;

/** Undefined if the text is about another command or has another form; empty if the command printed nothing. */
export function printedByLastCommand(text: string, commandLine: string, exitCode: number): string | undefined {
  const head = `${COMMAND}${commandLine}`;
  const rest = text.slice(head.length);
  if (!text.startsWith(head) || (rest !== '' && !rest.startsWith('\n'))) return undefined;
  const output = OUTPUT.exec(rest);
  const [, code] = EXIT_CODE.exec(rest.slice(0, output?.index)) ?? [];
  if (code !== undefined && Number(code) !== exitCode) return undefined;
  return output === null ? '' : rest.slice(output.index + output[0].length);
}
