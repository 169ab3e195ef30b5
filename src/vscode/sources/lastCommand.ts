// Decides what a command printed by what the editor's own tool says, in words meant for models, of a terminal's last command.

const COMMAND = 'The following is the last command run in the terminal:\n';
const EXIT_CODE = /^It exited with code: (-?\d+)$/m;
const OUTPUT = /^It has the following output:\n/m;

/** Undefined if it speaks of another command, or in other words than these; empty if it printed nothing. */
export function printedByLastCommand(said: string, commandLine: string, exitCode: number): string | undefined {
  const head = `${COMMAND}${commandLine}`;
  const rest = said.slice(head.length);
  if (!said.startsWith(head) || (rest !== '' && !rest.startsWith('\n'))) return undefined;
  const output = OUTPUT.exec(rest);
  const [, code] = EXIT_CODE.exec(rest.slice(0, output?.index)) ?? [];
  if (code !== undefined && Number(code) !== exitCode) return undefined;
  return output === null ? '' : rest.slice(output.index + output[0].length);
}
