// Reads the answer to a form: fills in defaults and checks every value against its field. Pure.
import { FORM_CANCELLED, FORM_DECLINED, type FormField, type FormValue } from '../../protocol/page/form.ts';

export type FormAnswer =
  | { readonly type: 'values'; readonly values: Readonly<Record<string, FormValue>> }
  | { readonly type: 'declined' | 'cancelled' }
  /** What is wrong with the answer, for the person who gave it. */
  | { readonly type: 'unusable'; readonly problem: string };

const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export function readFormAnswer(fields: readonly FormField[], answer: string): FormAnswer {
  if (answer === FORM_DECLINED) return { type: 'declined' };
  if (answer === FORM_CANCELLED) return { type: 'cancelled' };
  const given = parseObject(answer);
  if (given === undefined) return { type: 'unusable', problem: 'a JSON object with the fields is wanted.' };
  const values: Record<string, FormValue> = {};
  for (const field of fields) {
    const { name, label, required } = field;
    const value = Object.hasOwn(given, name) ? given[name] : field.default;
    if (value === undefined || value === null || value === '') {
      if (required) return { type: 'unusable', problem: `${label} is required.` };
      continue;
    }
    const problem = whyUnfit(field, value);
    if (problem !== undefined) return { type: 'unusable', problem: `${label}: ${problem}` };
    values[name] = value as FormValue;
  }
  return { type: 'values', values };
}

function whyUnfit(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'yes or no is wanted.';
    case 'number':
    case 'integer':
      return whyNoNumber(field, value);
    case 'choice':
      return isOption(field, value) ? undefined : 'choose from the list.';
    case 'choices':
      return whyNoChoices(field, value);
    case 'text':
      return whyNoText(field, value);
  }
}

function whyNoNumber({ type, least, most }: FormField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'a number is wanted.';
  if (type === 'integer' && !Number.isInteger(value)) return 'a whole number is wanted.';
  return whyOutside(value, least, most, '');
}

function whyNoChoices(field: FormField, value: unknown): string | undefined {
  const known = new Set<unknown>(field.options?.map((option) => option.value));
  if (!Array.isArray(value) || !value.every((one) => known.has(one))) return 'choose from the list.';
  return whyOutside(new Set(value).size, field.least, field.most, ' choices');
}

function whyNoText({ format, least, most }: FormField, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'a text is wanted.';
  const outside = whyOutside(Array.from(value).length, least, most, ' characters');
  return outside ?? (format === undefined ? undefined : whyMisformatted(format, value));
}

function whyMisformatted(format: NonNullable<FormField['format']>, value: string): string | undefined {
  switch (format) {
    case 'email':
      return EMAIL.test(value) ? undefined : 'an email address is wanted.';
    case 'uri':
      return isAddress(value) ? undefined : 'an address such as https://example.com is wanted.';
    case 'date':
      return DATE.test(value) && !Number.isNaN(Date.parse(value)) ? undefined : 'a date such as 2026-07-28 is wanted.';
    case 'date-time':
      return Number.isNaN(Date.parse(value)) ? 'a date and a time such as 2026-07-28T12:00:00Z are wanted.' : undefined;
  }
}

function whyOutside(value: number, least: number | undefined, most: number | undefined, of: string) {
  if (least !== undefined && value < least) return `at least ${least}${of} must be given.`;
  return most !== undefined && value > most ? `at most ${most}${of} may be given.` : undefined;
}

function isOption({ options = [] }: FormField, value: unknown): boolean {
  return options.some((option) => option.value === value);
}

function isAddress(text: string): boolean {
  try {
    return new URL(text).protocol !== '';
  } catch {
    return false;
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
