// The output of a subagent as people read it: calls by their titles, answers without the marks that models need.
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
