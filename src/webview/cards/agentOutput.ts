// Formats the output of a subagent for the user: calls by their titles, answers without the prefixes for models.
import { readPartial } from '../partialJson.ts';
import { toolTitle } from '../toolTitle.ts';

export function agentOutput(output: string): string {
  return output.split('\n').map(agentOutputLine).join('\n');
}

function agentOutputLine(line: string): string {
  const [, tool, args] = /^> (\S+) (.*)$/.exec(line) ?? [];
  if (tool === undefined || args === undefined) return line.replace(/^\| ?/, '');
  return toolTitle(tool, readPartial(args));
}
