// Failures in words for people: without the names of arguments and tools that a model or a program needs.
import { expect, test } from 'vitest';
import { failureMessage } from '../../../src/vscode/failureMessage.ts';

test.each([
  [
    'the field of a request is left out',
    'attachments.0: the image is too large.',
    undefined,
    'The image is too large.',
  ],
  ['a next step for people is kept', 'No folder is open.', 'Open a folder.', 'No folder is open. Open a folder.'],
  ['a next step that names a tool is left out', 'a.txt is not there.', 'Call list_files first.', 'a.txt is not there.'],
  [
    'an address stays as it is',
    'http://127.0.0.1:1/v1 cannot be reached.',
    undefined,
    'http://127.0.0.1:1/v1 cannot be reached.',
  ],
  ['a next step about the user is left out', 'Not trusted.', 'The user can trust it.', 'Not trusted.'],
  ['another word with an underscore is kept', 'Failed.', 'Set my_variable.', 'Failed. Set my_variable.'],
])('%s', (_, message, nextStep, expected) => {
  expect(failureMessage({ code: 'other', message, ...(nextStep !== undefined && { nextStep }) })).toBe(expected);
});
