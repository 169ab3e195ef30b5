// What failed and refused calls say to people, by the code of their failure; the result itself is written for the model.
import type { FailureCode } from '../../base/failureCodes.ts';
import { failureText as englishText } from '../../base/failureTexts.ts';
import { t } from './l10n.ts';

/** Undefined: the result itself is shown, also for codes of other versions. */
export function failureText(code: FailureCode | undefined): string | undefined {
  const text = code && englishText(code);
  return text && t(text);
}
