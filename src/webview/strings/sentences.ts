// Sentences with values that layers without a translation say to people: reasons of approvals, notices, and failures of
// a turn. They arrive in English; here the page finds the template again, which is the key of its translation. A
// sentence without values is a key itself. `test/unit/webview/wordsForPeople.test.ts` compares this list with the code.

/** One of their values is a sentence too. In the order in which they are tried. */
export const FRAMES: readonly string[] = [
  '{0} Also, {1}',
  '{0} Reverted.',
  '{0} Tried {1} times.',
  '{0} Changes made by this command cannot be undone.',
  '{0} If it happens often, look at the endpoint’s log and at proxies in between.',
  'it may lead outside the workspace: {0}.',
  'the value of {0} is known only when it runs',
  'A tool of the MCP server “{0}”. {1}',
  'It says that the tool {0}.',
  'The connection to {0} broke {1} ({2}).',
  'The hook {0} had no effect: {1}',
  'The instructions in {0} are not used: {1}',
];

export const TEMPLATES: readonly string[] = [
  '{0} is hidden, as everything is while .earshotignore cannot be used: {1}',
  '{0} is hidden by .earshotignore',
  '{0} is not supported',
  '{0} is outside the workspace',
  '{0} is protected: {1} can make programs run',
  '{0} is protected: {1} may hold secrets',
  '{0} is this machine or the network around it',
  'a hook of the user wants you to decide: {0}',
  'what it does in this shell ({0}) is not certain',
  'after {0} characters of the answer',
  'Earshot failed unexpectedly: {0}',
  'It asks to wait {0}; send again then, or choose another model.',
  'Not captured, so changes by commands there cannot be undone: {0}.',
  'Reads a resource of the MCP server “{0}”.',
  'The account behind this key has no quota left at {0} ({1}).',
  'The answer does not fit the schema, even after a second attempt: {0}.',
  'The conversation is longer than {0} can read ({1}).',
  'The hook {0} says: {1}',
  'The model gave no sign of life for {0} s.',
  'The model’s answer was cut off after {0} characters.',
  'This conversation has used {0}; you wanted to be asked after every {1}.',
  'Trying again in {0} s.',
  'Write a message to continue, or change {0}.',
  'You restored {0}.',
  'You undid changes in {0}.',
  '{0} answered, but not as an OpenAI-compatible endpoint does ({1}).',
  '{0} asks to slow down ({1}).',
  '{0} broke the answer off ({1}).',
  '{0} cannot be reached ({1}).',
  '{0} does not accept the request ({1}).',
  '{0} does not know the model “{1}” ({2}).',
  '{0} does not let this key use “{1}” ({2}).',
  '{0} does not serve your region ({1}).',
  '{0} failed with status {1} ({2}).',
  '{0} or a filter of {1} refused to answer ({2}).',
  '{0} refused the API key ({1}).',
  '{0} sent more than Earshot reads of one answer: {1}.',
  '{0} sent something that is no JSON: {1}.',
];

type Translate = (text: string, ...values: readonly string[]) => string;

const DEEPEST = 3;
const BETWEEN = '; ';

/** Unknown parts, such as the words of a server or a hook, stay as they are. */
export function translateSentence(text: string, translate: Translate): string {
  return translated(text, translate, 0) ?? text;
}

function translated(text: string, translate: Translate, depth: number): string | undefined {
  const whole = translate(text);
  if (whole !== text || depth > DEEPEST) return whole === text ? undefined : whole;
  for (const template of FRAMES) {
    const values = valuesIn(text, template);
    if (values === undefined) continue;
    return translate(template, ...values.map((value) => translated(value, translate, depth + 1) ?? value));
  }
  // Several reasons.
  const parts = text.split(BETWEEN);
  if (parts.length > 1) {
    const each = parts.map((part) => translated(part, translate, depth + 1));
    if (each.every((part) => part !== undefined)) return each.join(BETWEEN);
  }
  for (const template of TEMPLATES) {
    const values = valuesIn(text, template);
    if (values !== undefined) return translate(template, ...values);
  }
  const clause = text.endsWith('.') ? translated(text.slice(0, -1), translate, depth + 1) : undefined;
  return clause === undefined ? undefined : `${clause}.`;
}

/** The values with which the template is the text; undefined if there are none. */
function valuesIn(text: string, template: string): string[] | undefined {
  const [first = '', ...rest] = template.split(/\{\d\}/);
  const last = rest.pop() ?? '';
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const literal of rest) {
    const found = text.indexOf(literal, at);
    if (found === -1) return undefined;
    values.push(text.slice(at, found));
    at = found + literal.length;
  }
  if (at >= end) return undefined;
  values.push(text.slice(at, end));
  return values.includes('') ? undefined : values;
}
