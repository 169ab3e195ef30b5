// Questions to the user as forms of the protocol, and their answers.
import { defined } from '../base/json/defined.ts';
import { type InquiryRequest } from '../core/ports/ports.ts';
import { FORM_CANCELLED, FORM_DECLINED, type FormField } from '../protocol/page/form.ts';
import { elicitationAnswerSchema } from '../protocol/outside/acp.ts';

/** The name of the only field of a question that is not a form. */
const ANSWER = 'answer';

export function describeInquiry({ conversation, text, options, several, fields, problem }: InquiryRequest): object {
  const properties =
    fields === undefined
      ? { [ANSWER]: describeQuestion(options, several === true) }
      : Object.fromEntries(fields.map((field) => [field.name, describeField(field)]));
  const required = fields === undefined ? [ANSWER] : fields.flatMap((field) => (field.required ? [field.name] : []));
  return {
    sessionId: conversation,
    mode: 'form',
    message: problem === undefined ? text : `${text}\n\n${problem}`,
    requestedSchema: { type: 'object', properties, required },
  };
}

/** Converts the client's answer to the form that `InquiryAnswer.answer` has. */
export function readInquiryAnswer({ fields, several }: InquiryRequest, answered: unknown): string | string[] {
  const { action, content } = elicitationAnswerSchema.safeParse(answered).data ?? { action: 'cancel' };
  if (fields !== undefined) {
    if (action === 'accept') return JSON.stringify(content ?? {});
    return action === 'decline' ? FORM_DECLINED : FORM_CANCELLED;
  }
  const given = action === 'accept' ? content?.[ANSWER] : undefined;
  if (Array.isArray(given)) return given.map(String);
  if (several === true) return typeof given === 'string' ? [given] : [];
  return typeof given === 'string' ? given : '';
}

function describeQuestion(options: readonly string[] | undefined, several: boolean): object {
  if (several) return { type: 'array', items: { type: 'string', enum: [...(options ?? [])] } };
  return { type: 'string', ...(options && { enum: [...options] }) };
}

function describeField(field: FormField): object {
  const { type, label, about, format, options = [], default: initial, least, most } = field;
  const common = {
    title: label,
    ...defined({ description: about, default: initial }),
  };
  const titled = options.map(({ value, label: title }) => ({ const: value, title }));
  const range = (low: string, high: string) => ({
    ...defined({ [low]: least, [high]: most }),
  });
  switch (type) {
    case 'text':
      return { type: 'string', ...common, ...defined({ format }), ...range('minLength', 'maxLength') };
    case 'number':
    case 'integer':
      return { type, ...common, ...range('minimum', 'maximum') };
    case 'boolean':
      return { type, ...common };
    case 'choice':
      return { type: 'string', ...common, oneOf: titled };
    case 'choices':
      return { type: 'array', ...common, items: { anyOf: titled }, ...range('minItems', 'maxItems') };
  }
}
