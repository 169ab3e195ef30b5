// Asks the user a server's questions during a call: one form with all fields, or whether to open a web page.
import * as z from 'zod';
import { defined } from '../base/json/defined.ts';
import { wholeCharacters } from '../base/text.ts';
import { readFormAnswer } from '../core/consent/formAnswers.ts';
import { type FormField, type FormValue } from '../protocol/page/form.ts';
import { type CallHooks } from './session/sessionPort.ts';

interface ElicitAnswer {
  [key: string]: unknown;
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, FormValue>;
}

const MOST_FIELDS = 20;
const MOST_OPTIONS = 100;
const MOST_LABEL = 200;
const MOST_ABOUT = 1000;

const choice = z.object({ const: z.string(), title: z.string().optional() });
const fieldSchema = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  enumNames: z.array(z.string()).optional(),
  oneOf: z.array(choice).optional(),
  items: z.object({ enum: z.array(z.string()).optional(), anyOf: z.array(choice).optional() }).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minItems: z.number().optional(),
  maxItems: z.number().optional(),
});
type Schema = z.infer<typeof fieldSchema>;

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

/** Never rejects because of what the server sent: a question that cannot be shown is declined. */
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
  const entries = Object.entries(properties);
  if (entries.length === 0) return confirm(head, hooks);
  if (entries.length > MOST_FIELDS) return { action: 'decline' };
  const fields = entries.map(([name, schema]) => fieldOf(name, schema, required.includes(name)));
  if (fields.some((field) => field === undefined)) return { action: 'decline' };
  return askForm(
    head,
    fields.filter((field) => field !== undefined),
    hooks,
  );
}

async function askForm(
  head: string,
  fields: readonly FormField[],
  { ask }: Pick<CallHooks, 'ask'>,
): Promise<ElicitAnswer> {
  const answer = await ask({ text: head, fields });
  const read = typeof answer === 'string' ? readFormAnswer(fields, answer) : undefined;
  switch (read?.type) {
    case 'values':
      return { action: 'accept', content: { ...read.values } };
    case 'declined':
    case 'unusable':
      return { action: 'decline' };
    case 'cancelled':
    case undefined:
      return { action: 'cancel' };
  }
}

async function confirm(head: string, { ask }: Pick<CallHooks, 'ask'>): Promise<ElicitAnswer> {
  const answer = await ask({ text: head, options: [YES, DECLINE] });
  if (answer === undefined) return { action: 'cancel' };
  return answer === YES ? { action: 'accept', content: {} } : { action: 'decline' };
}

/** Shows the whole address, which the user needs to decide. */
async function askToOpen(
  head: string,
  url: string,
  { ask }: Pick<CallHooks, 'ask'>,
  openExternal: (url: string) => Promise<boolean>,
): Promise<ElicitAnswer> {
  const href = readPage(url);
  if (href === undefined) return { action: 'decline' };
  const { host } = new URL(href);
  const answer = await ask({
    text: `${head}\n\nIt wants to open this page of ${host}:\n${href}`,
    options: [OPEN, DECLINE],
  });
  if (answer === undefined) return { action: 'cancel' };
  if (answer !== OPEN) return { action: 'decline' };
  return (await openExternal(href)) ? { action: 'accept' } : { action: 'cancel' };
}

/** The web page that an elicitation wants to open; undefined: it does not ask for one. */
export function pageOf(params: unknown): string | undefined {
  const parsed = paramsSchema.safeParse(params);
  return parsed.success && 'url' in parsed.data ? readPage(parsed.data.url) : undefined;
}

function readPage(url: string): string | undefined {
  if (url.length > 4000 || !URL.canParse(url)) return undefined;
  const { href, protocol } = new URL(url);
  return /^https?:$/.test(protocol) ? href : undefined;
}

/** Undefined: a form cannot ask for this field. A default that the field does not accept is left out. */
function fieldOf(name: string, schema: Schema, required: boolean): FormField | undefined {
  const { title, description, format } = schema;
  const options = optionsOf(schema);
  const type = typeOf(schema, options !== undefined);
  if (type === undefined) return undefined;
  const field: FormField = {
    name,
    label: wholeCharacters(title ?? name, MOST_LABEL),
    ...(description !== undefined && { about: wholeCharacters(description, MOST_ABOUT) }),
    type,
    ...(type === 'text' && isFormat(format) && { format }),
    ...defined({ options }),
    required,
    ...boundsOf(schema, type),
  };
  const preset = defaultOf(schema, options);
  const fits = preset !== undefined && readFormAnswer([field], JSON.stringify({ [name]: preset })).type === 'values';
  return fits ? { ...field, default: preset } : field;
}

function typeOf({ type = 'string' }: Schema, hasOptions: boolean): FormField['type'] | undefined {
  switch (type) {
    case 'string':
      return hasOptions ? 'choice' : 'text';
    case 'array':
      return hasOptions ? 'choices' : undefined;
    default:
      return type;
  }
}

function isFormat(format: string | undefined): format is NonNullable<FormField['format']> {
  return ['email', 'uri', 'date', 'date-time'].includes(format ?? '');
}

function boundsOf(schema: Schema, type: FormField['type']): Pick<FormField, 'least' | 'most'> {
  const [least, most] =
    type === 'text'
      ? [schema.minLength, schema.maxLength]
      : type === 'choices'
        ? [schema.minItems, schema.maxItems]
        : [schema.minimum, schema.maximum];
  return { ...defined({ least, most }) };
}

function optionsOf({ oneOf, items, enum: plain, enumNames }: Schema): FormField['options'] {
  const titled = oneOf ?? items?.anyOf;
  const values = plain ?? items?.enum;
  const options =
    titled?.map(({ const: value, title = value }) => ({ value, label: title })) ??
    values?.map((value, index) => ({ value, label: enumNames?.[index] ?? value }));
  if (options === undefined || options.length === 0) return undefined;
  return options
    .slice(0, MOST_OPTIONS)
    .map(({ value, label }) => ({ value, label: wholeCharacters(label, MOST_LABEL) }));
}

/** Some servers write the label of the default, not its value. */
function defaultOf({ default: preset }: Schema, options: FormField['options']): FormValue | undefined {
  if (typeof preset !== 'string' || options === undefined) return preset;
  return (options.find(({ value }) => value === preset) ?? options.find(({ label }) => label === preset))?.value;
}
