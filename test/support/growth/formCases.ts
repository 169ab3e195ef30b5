// Growth cases: answers to forms of MCP servers, as a person or a program sends them.
import { readFormAnswer } from '../../../src/core/consent/formAnswers.ts';
import { type FormField } from '../../../src/protocol/page/form.ts';
import { type GrowthCases, inPieces, over } from './cases.ts';

const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

const forms: GrowthCases = {
  ...over('readFormAnswer', (text) => readFormAnswer([], text), ['{"a":', '[', '"', '\\', ' ']),
  ...over(
    'readFormAnswer, texts of each format',
    (text) => FORMATS.map((format) => answered({ type: 'text', format }, text)),
    ['a@', '1-', '2026-07-28T', 'http://', ' ', '😀'],
  ),
  ...over('readFormAnswer, as many choices as there are', (text) => answeredChoices(inPieces(text, 4)), [
    (size) => Array.from({ length: Math.ceil(size / 4) }, (_, index) => String(index).padStart(4, 'a')).join(''),
  ]),
};

export const formCases = { forms };

function answered(field: Pick<FormField, 'type' | 'format' | 'options'>, value: unknown): unknown {
  return readFormAnswer([{ name: 'a', label: 'A', required: true, ...field }], JSON.stringify({ a: value }));
}

function answeredChoices(values: readonly string[]): unknown {
  return answered({ type: 'choices', options: values.map((value) => ({ value, label: value })) }, values);
}
