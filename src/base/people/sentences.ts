// Sentences with values that layers without a translation say to people: reasons of approvals, notices and failures.
// They arrive in English; here page and window find the template again, which is the key of its translation. A sentence
// without values is a key itself. `test/unit/webview/wordsForPeople.test.ts` compares these lists with the code.

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
  'Check your plan with the provider, wait until the quota is renewed, {0}',
  'Line {0} of this conversation’s log does not follow the one before: {1}.',
  'Line {0} of this conversation’s log is damaged ({1}) and was left out; the rest is intact.',
  'Rephrase the request, {0}',
  'Send again and allow it, allow it in the Accounts menu under Manage Language Model Access, {0}',
  'This prompt cannot be used: {0}',
  '{0} Its former text is in the editor, not saved.',
  '{0} Not all changes could be rolled back.',
  '{0} Nothing that is on disk is lost.',
  '{0} without printing it',
];

export const TEMPLATES: readonly string[] = [
  'the user has not allowed it yet. {0}',
  'the user has switched it off. {0}',
  'there is no commit {0} here.',
  '${{0}} cannot be replaced: {1}.',
  'A file of its command cannot be read: {0}.',
  'A folder above {0} is a link or a file now.',
  'A folder above {0} was replaced by a link while {1} was changed: the change may have gone to its target.',
  'a hook of the user wants you to decide: {0}',
  'it may start turns without you, at most {0} within {1}.',
  'it may start turns without you, at most {0} until {1}.',
  'it may start turns without you, at most {0} within {1} d: “{2}”, {3}.',
  'it may start turns without you, at most {0} within {1} d: events “{2}” of the MCP server “{3}”.',
  '{0} has passed {1} s ago; it is {2} now.',
  '{0} timers and conditions are set already. Cancel one first.',
  '“{0}” is no time; write 17:00 or 2026-11-18T17:00.',
  'after {0} characters of the answer',
  'before it, events {0} to {1} are missing',
  'Check {0} before you continue.',
  'Choose “{0}” from the list.',
  'could not be started ({0}) after {1}',
  'Earshot cannot keep conversations: {0}.',
  'Earshot failed unexpectedly: {0}',
  'ended after {0}',
  'ended with exit code {0} after {1}',
  'Event {0} is not the end of a cycle.',
  'failed after {0}: {1}',
  'It asks to wait {0}; send again then, or choose another model.',
  'It cannot be used: {0}.',
  'it could not be started: {0}',
  'It could not be started: {0}.',
  'it ended with exit code {0} and wrote nothing',
  'it ended with exit code {0}: {1}',
  'it has the number {0}, which was used before: another program wrote here',
  'it took longer than {0} s',
  'It was already answered by {0}.',
  'it was ended by {0}',
  'No notification with the id “{0}” is pending.',
  'Not captured, so changes by commands there cannot be undone: {0}.',
  'Events “{0}” of the MCP server “{1}” are shown to the model.',
  'Reads a resource of the MCP server “{0}”.',
  'running for {0}',
  'running for {0}; it seems to wait for input at: {1}',
  'running for {0}; it waits for {1}',
  'The account behind this key has no credit left at {0} ({1}).',
  'The account behind this key has no quota left at {0} ({1}).',
  'The answer does not fit the schema, even after a second attempt: {0}.',
  'The command could not be started: {0}.',
  'The conversation is longer than {0} can read ({1}).',
  'The conversation’s log cannot be written: {0}.',
  'The damaged bytes are kept next to the log as {0}. You can continue the conversation.',
  'The editor did not create {0}.',
  'The editor did not delete {0}.',
  'The editor did not move {0}.',
  'The editor rejected the change of {0}.',
  'The envFile {0} cannot be read.',
  'The envFile {0} is not a file.',
  'The file {0} is too large for an envFile.',
  'The hook {0} says: {1}',
  'The MCP server “{0}” could not provide it: {1}',
  'The MCP server “{0}” is not connected.',
  'The model gave no sign of life for {0} s.',
  'The model {0} is not available in VS Code.',
  'The model “{0}” of this conversation is not configured any more.',
  'The model’s answer was cut off after {0} characters.',
  'The notification source “{0}” is not running: {1}.',
  'The path is longer than {0} characters.',
  'The program plugin {0} is not approved.',
  'The program plugin {0} is running.',
  'The program plugin {0} was changed meanwhile.',
  'The program “{0}” was not found.',
  'The settings do not allow the program plugin {0} to run.',
  'The skill {0} has no files.',
  'The user has not allowed {0} to get notifications.',
  'The user is asked in VS Code whether {0} may get notifications.',
  'The value of the {0} has a character that is not allowed there, such as a line break.',
  'The workspace’s files could not be captured within {0} s.',
  'There is no program plugin “{0}”.',
  'This conversation cannot be opened: {0}.',
  'This conversation has used {0}; you wanted to be asked after every {1}.',
  'This conversation is open in {0}.',
  'This is not a valid skill: {0}.',
  'Trying again in {0} s.',
  'printed “{0}”',
  'was ended after {0}',
  'was ended by {0} after {1}',
  '{0} bytes were not searched',
  'no language server has checked {0} again yet',
  '{0} errors and warnings',
  'was started {0} ago; its present state is unknown: {1}',
  'was stopped ({0}) after {1}',
  'was stopped after {0}',
  'was stopped because no window had it any more after {0}',
  'what it does in this shell ({0}) is not certain',
  'what it started in a session of its own runs on: {0}',
  'Write a message to continue, or change {0}.',
  'You have not allowed Earshot to use {0} ({1}).',
  'You restored {0}.',
  'You undid changes in {0}.',
  'Your quota for {0} is used up ({1}).',
  '{0} already exists.',
  '{0} answered, but not as an OpenAI-compatible endpoint does ({1}).',
  '{0} answers, but not as an OpenAI-compatible endpoint does.',
  '{0} answers, but {1}.',
  '{0} asks to slow down ({1}).',
  '{0} broke the answer off ({1}).',
  '{0} cannot be changed: its file system is read-only.',
  '{0} cannot be changed: {1}.',
  '{0} cannot be reached ({1}).',
  '{0} cannot be read.',
  '{0} cannot be read: its links lead in a circle.',
  '{0} cannot be read: permission denied.',
  '{0} cannot be read: {1}',
  '{0} cannot be written: permission denied.',
  '{0} cannot be written: {1}',
  '{0} cannot be written: {1}.',
  '{0} could not be changed: {1}.',
  '{0} could not be saved.',
  '{0} does not accept the request ({1}).',
  '{0} does not exist.',
  '{0} does not know the model “{1}” ({2}).',
  '{0} does not let this key use “{1}” ({2}).',
  '{0} does not list its models ({1}).',
  '{0} does not serve your region ({1}).',
  '{0} exists now.',
  '{0} failed ({1}).',
  '{0} failed with status {1} ({2}).',
  '{0} has changed since.',
  '{0} has changed.',
  '{0} has no list of models ({1}).',
  '{0} has unsaved changes in a notebook editor.',
  '{0} has unsaved changes in the editor.',
  '{0} is a folder.',
  '{0} is a link that leads nowhere.',
  '{0} is changed twice.',
  '{0} is empty.',
  '{0} is hidden by .earshotignore',
  '{0} is hidden, as everything is while .earshotignore cannot be used: {1}',
  '{0} is larger than 10 MB.',
  '{0} is larger than 256 KB.',
  '{0} is limiting the request rate ({1}).',
  '{0} is no longer a file, or is behind a link.',
  '{0} is not a folder.',
  '{0} is not a regular file, so it is not read.',
  '{0} is not a text file.',
  '{0} is not supported',
  '{0} is or leads outside the skill’s folder.',
  '{0} is or leads outside the workspace.',
  '{0} is outside the workspace',
  '{0} is outside the workspace.',
  '{0} is protected: {1} can make programs run',
  '{0} is protected: {1} may hold secrets',
  '{0} is read-only.',
  '{0} is this machine or the network around it',
  '{0} is too big ({1}).',
  '{0} is too long to be attached as a whole.',
  '{0} is {1}; models take PNG, JPEG, GIF and WebP.',
  '{0} leads out of the repository.',
  '{0} leads outside its folder.',
  '{0} leads to {1}, which is outside the folder.',
  '{0} may not be read: the rights are missing.',
  '{0} more lines of this conversation’s log are damaged and were left out.',
  '{0} no longer exists.',
  '{0} or a filter of {1} refused to answer ({2}).',
  '{0} refused the API key ({1}).',
  '{0} refused the request ({1}).',
  '{0} sent more than Earshot reads of one answer: {1}.',
  '{0} sent something that is no JSON: {1}.',
  '{0} wants an API key ({1}).',
  '{0} was changed at the same moment.',
  '{0} was changed in the editor at the same moment.',
  '{0} was changed meanwhile.',
  '{0} was removed after it was saved.',
  '{0} was replaced while it was read.',
  '“{0}” is not a header name.',
  '“{0}” is not the address of a server.',
  '“{0}” is not the id of a conversation.',
  '“{0}” is required.',
  '“{0}” is too long: its greatest length is {1}.',
  'Choose at most {0} of “{1}”.',
  '“{0}” must be a date and a time such as 2026-07-28T12:00:00Z.',
  '“{0}” must be a date such as 2026-07-28.',
  '“{0}” must be a number.',
  '“{0}” must be a text.',
  '“{0}” must be a whole number.',
  '“{0}” must be an address such as https://example.com.',
  '“{0}” must be an email address.',
  '“{0}” must be at least {1}.',
  '“{0}” must be at most {1}.',
  '“{0}” must be yes or no.',
  '“{0}” is too short: its least length is {1}.',
  'Choose at least {0} of “{1}”.',
];

/** What a value of a template may be besides a name: a list that was shortened, or a time. */
export const VALUES: readonly string[] = ['{0} and {1} more', '{0} minutes', '{0} hours', '1 minute', '1 hour'];

/** Several may fit: the one with the longest text of its own says most. */
const byLength = TEMPLATES.toSorted((one, other) => ownLength(other) - ownLength(one));

function ownLength(template: string): number {
  return template.replace(/\{\d\}/g, '').length;
}

export type Translate = (text: string, ...values: string[]) => string;

const DEEPEST = 3;
/** Between several reasons, and between sentences. */
const BETWEEN = [/; /, /(?<=[.!?]) (?=\p{Lu})/u];

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
  for (const between of BETWEEN) {
    const parts = text.split(between);
    if (parts.length === 1) continue;
    const each = parts.map((part) => translated(part, translate, depth + 1));
    if (each.every((part) => part !== undefined)) return each.join(between.source === '; ' ? '; ' : ' ');
  }
  for (const template of byLength) {
    const values = valuesIn(text, template);
    if (values !== undefined) return translate(template, ...values.map((value) => translatedValue(value, translate)));
  }
  const clause = text.endsWith('.') ? translated(text.slice(0, -1), translate, depth + 1) : undefined;
  return clause === undefined ? undefined : `${clause}.`;
}

/** A name stays as it is. */
function translatedValue(text: string, translate: Translate): string {
  for (const template of VALUES) {
    if (template === text) return translate(text);
    const values = valuesIn(text, template);
    const count = values?.at(-1);
    if (values !== undefined && /^\d+$/.test(count ?? '')) return translate(template, ...values);
  }
  return text;
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
