// What a permanent approval covers, for people: a tool by its name for them, anything else, such as a command, as it is.
import { knownToolLabel, otherToolName } from '../toolLabels.ts';
import { type Translate } from './sentences.ts';

export function ruleLabel(
  { rule, label }: { readonly rule: string; readonly label: string },
  translate: Translate,
): string {
  const known = rule.startsWith('tool:') ? knownToolLabel(label) : undefined;
  if (known !== undefined) return translate(known);
  const isOfServer = rule.startsWith('mcp:') && label.includes('__');
  return isOfServer ? otherToolName(label) : label.replaceAll(/\s+/g, ' ');
}
