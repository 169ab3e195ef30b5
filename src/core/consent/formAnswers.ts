// Reads the answer to a form: fills in defaults and checks every value against its field. Pure.
import { parseObject } from '../../base/json/outsideJson.ts';
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
  if (given === undefined) return { type: 'unusable', problem: 'A JSON object with the fields is wanted.' };
  const values: Record<string, FormValue> = {};
  for (const field of fields) {
    const { name, label, required } = field;
    const value = Object.hasOwn(given, name) ? given[name] : field.default;
    if (value === undefined || value === null || value === '') {
      if (required) return { type: 'unusable', problem: `“${label}” is required.` };
      continue;
    }
    const problem = whyUnfit(field, value);
    if (problem !== undefined) return { type: 'unusable', problem };
    values[name] = value as FormValue;
  }
  return { type: 'values', values };
}

function whyUnfit(field: FormField, value: unknown): string | undefined {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `“${field.label}” must be yes or no.`;
    case 'number':
    case 'integer':
      return whyNoNumber(field, value);
    case 'choice':
      return isOption(field, value) ? undefined : `Choose “${field.label}” from the list.`;
    case 'choices':
      return whyNoChoices(field, value);
    case 'text':
      return whyNoText(field, value);
  }
}

function whyNoNumber({ type, label, least, most }: FormField, value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return `“${label}” must be a number.`;
  if (type === 'integer' && !Number.isInteger(value)) return `“${label}” must be a whole number.`;
  if (least !== undefined && value < least) return `“${label}” must be at least ${least}.`;
  return most !== undefined && value > most ? `“${label}” must be at most ${most}.` : undefined;
}

function whyNoChoices(field: FormField, value: unknown): string | undefined {
  const known = new Set<unknown>(field.options?.map((option) => option.value));
  const { label, least, most } = field;
  if (!Array.isArray(value) || !value.every((one) => known.has(one))) return `Choose “${label}” from the list.`;
  const count = new Set(value).size;
  if (least !== undefined && count < least) return `Choose at least ${least} of “${label}”.`;
  return most !== undefined && count > most ? `Choose at most ${most} of “${label}”.` : undefined;
}

function whyNoText({ label, format, least, most }: FormField, value: unknown): string | undefined {
  if (typeof value !== 'string') return `“${label}” must be a text.`;
  const length = Array.from(value).length;
  if (least !== undefined && length < least) return `“${label}” is too short: its least length is ${least}.`;
  if (most !== undefined && length > most) return `“${label}” is too long: its greatest length is ${most}.`;
  return format === undefined ? undefined : whyMisformatted(format, label, value);
}

function whyMisformatted(format: NonNullable<FormField['format']>, label: string, value: string): string | undefined {
  switch (format) {
    case 'email':
      return EMAIL.test(value) ? undefined : `“${label}” must be an email address.`;
    case 'uri':
      return isAddress(value) ? undefined : `“${label}” must be an address such as https://example.com.`;
    case 'date':
      return DATE.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : `“${label}” must be a date such as 2026-07-28.`;
    case 'date-time':
      return Number.isNaN(Date.parse(value))
        ? `“${label}” must be a date and a time such as 2026-07-28T12:00:00Z.`
        : undefined;
  }
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
