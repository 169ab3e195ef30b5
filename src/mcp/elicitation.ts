// Asks the user what a server wants to know during a call: one question for each field of a form, or one for an address.
import * as z from 'zod';
import { wholeCharacters } from '../base/text.ts';
import { type CallHooks } from './session/sessionPort.ts';

type FieldValue = string | number | boolean | string[];
interface ElicitAnswer {
  [key: string]: unknown;
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, FieldValue>;
}

const MOST_FIELDS = 20;
const MOST_OPTIONS = 100;
/** So often a field is asked for again after an answer that does not fit. */
const MOST_ATTEMPTS = 5;

const choice = z.object({ const: z.string(), title: z.string().optional() });
const fieldSchema = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(choice).optional(),
  items: z.object({ enum: z.array(z.string()).optional(), anyOf: z.array(choice).optional() }).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
});
type Field = z.infer<typeof fieldSchema>;

const paramsSchema = z.union([
  z.object({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.object({
    message: z.string(),
    requestedSchema: z.object({
      properties: z.record(z.string(), fieldSchema),
      required: z.array(z.string()).optional(),
    }),
  }),
]);

const OPEN = 'Open in browser';
const DECLINE = 'Decline';
const YES = 'Yes';
const NO = 'No';

/** Never rejects for what the server sent: what cannot be asked is declined. */
export async function elicit(
  server: string,
  params: unknown,
  hooks: Pick<CallHooks, 'ask'>,
  openExternal: (url: string) => Promise<boolean>,
): Promise<ElicitAnswer> {
  const parsed = paramsSchema.safeParse(params);
  if (!parsed.success) return { action: 'decline' };
  const head = `The MCP server “${server}” asks: ${wholeCharacters(parsed.data.message, 4000)}`;
  if ('url' in parsed.data) return askToOpen(head, parsed.data.url, hooks, openExternal);
  const { properties, required = [] } = parsed.data.requestedSchema;
  const fields = Object.entries(properties).slice(0, MOST_FIELDS);
  if (fields.length === 0) return confirm(head, hooks);
  const content: Record<string, FieldValue> = {};
  for (const [name, field] of fields) {
    const given = await askField({ head, name, field, isRequired: required.includes(name) }, hooks);
    if (given === undefined) return { action: 'cancel' };
    if (given === 'declined') return { action: 'decline' };
    if (given.value !== undefined) content[name] = given.value;
  }
  return { action: 'accept', content };
}

async function confirm(head: string, { ask }: Pick<CallHooks, 'ask'>): Promise<ElicitAnswer> {
  const answer = await ask({ text: head, options: [YES, DECLINE] });
  if (answer === undefined) return { action: 'cancel' };
  return answer === YES ? { action: 'accept', content: {} } : { action: 'decline' };
}

/** The whole address is shown: the user decides by it. */
async function askToOpen(
  head: string,
  url: string,
  { ask }: Pick<CallHooks, 'ask'>,
  openExternal: (url: string) => Promise<boolean>,
): Promise<ElicitAnswer> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || url.length > 4000) return { action: 'decline' };
  const { href, host } = new URL(url);
  const answer = await ask({
    text: `${head}\n\nIt wants to open this page of ${host}:\n${href}`,
    options: [OPEN, DECLINE],
  });
  if (answer === undefined) return { action: 'cancel' };
  if (answer !== OPEN) return { action: 'decline' };
  return (await openExternal(href)) ? { action: 'accept' } : { action: 'cancel' };
}

interface AskedField {
  readonly head: string;
  readonly name: string;
  readonly field: Field;
  readonly isRequired: boolean;
}

/** Skipping a required field declines the whole form; another one is left out, or has its default. */
async function askField(
  asked: AskedField,
  { ask }: Pick<CallHooks, 'ask'>,
): Promise<{ value?: FieldValue } | 'declined' | undefined> {
  const { head, name, field, isRequired } = asked;
  const options = optionsOf(field);
  const several = field.type === 'array';
  let problem = '';
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const answer = await ask({
      text: [head, ...describeField(name, field, isRequired), ...(problem === '' ? [] : [`\n${problem}`])].join('\n'),
      ...(options !== undefined && { options: options.map(({ label }) => label) }),
      ...(several && options !== undefined && { several }),
    });
    if (answer === undefined) return undefined;
    const given = [answer].flat().filter((one) => one.trim() !== '');
    if (given.length === 0) {
      if (field.default !== undefined) return { value: field.default };
      return isRequired ? 'declined' : {};
    }
    const value = readValue(given, field, options);
    if (typeof value === 'object' && !Array.isArray(value)) problem = value.problem;
    else return { value };
  }
  return 'declined';
}

function describeField(name: string, { title, description, default: preset }: Field, isRequired: boolean): string[] {
  const label = wholeCharacters(title ?? name, 200);
  const about = description === undefined ? '' : `: ${wholeCharacters(description, 1000)}`;
  const fallback = preset === undefined ? '' : ` Default: ${wholeCharacters(String(preset), 200)}.`;
  return ['', `${label}${about}${isRequired ? '' : ' (optional)'}.${fallback}`];
}

interface Option {
  readonly label: string;
  readonly value: string;
}

function optionsOf(field: Field): readonly Option[] | undefined {
  if (field.type === 'boolean') return [YES, NO].map((label) => ({ label, value: label }));
  const titled = field.oneOf ?? field.items?.anyOf;
  const plain = field.enum ?? field.items?.enum;
  const options =
    titled?.map(({ const: value, title = value }) => ({ label: title, value })) ??
    plain?.map((value, index) => ({ label: field.enumNames?.[index] ?? value, value }));
  if (options === undefined || options.length === 0) return undefined;
  const seen = new Set<string>();
  return options.slice(0, MOST_OPTIONS).filter(({ label }) => !seen.has(label) && seen.add(label));
}

function readValue(
  given: readonly string[],
  field: Field,
  options: readonly Option[] | undefined,
): FieldValue | { problem: string } {
  const [text = ''] = given;
  if (field.type === 'boolean') {
    return text === YES || text === NO ? text === YES : { problem: `Choose ${YES} or ${NO}.` };
  }
  if (options !== undefined) {
    const values = given.map((one) => options.find(({ label, value }) => label === one || value === one)?.value);
    if (values.includes(undefined)) return { problem: 'Choose from the list.' };
    return field.type === 'array' ? values.filter((one) => one !== undefined) : (values[0] ?? '');
  }
  if (field.type === 'number' || field.type === 'integer') return readNumber(text, field);
  if (field.type === 'array') return { problem: 'This cannot be answered here.' };
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = field;
  if (text.length < minLength || text.length > maxLength) {
    return { problem: `The answer must have ${minLength} to ${maxLength} characters.` };
  }
  return text;
}

function readNumber(text: string, { type, minimum, maximum }: Field): number | { problem: string } {
  const value = Number(text.trim());
  if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value))) {
    return { problem: `Enter a ${type === 'integer' ? 'whole ' : ''}number.` };
  }
  const isOutside = value < (minimum ?? Number.NEGATIVE_INFINITY) || value > (maximum ?? Number.POSITIVE_INFINITY);
  return isOutside ? { problem: `The number must be from ${minimum ?? '−∞'} to ${maximum ?? '∞'}.` } : value;
}
