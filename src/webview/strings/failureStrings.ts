// What failed and refused calls say to people, by the code of their failure; the result itself is written for the model.
import type { FailureCode } from '../../base/failureCodes.ts';
import { t } from './l10n.ts';
import { strings } from './strings.ts';

const FAILURES: Readonly<Partial<Record<FailureCode, string>>> = {
  bad_arguments: t('The arguments are invalid.'),
  hidden: t('Excluded by .earshotignore.'),
  is_folder: t('This is a folder.'),
  no_task: t('No such task.'),
  no_tool: t('No such tool.'),
  not_found: t('Not found.'),
  outside: t('Outside the workspace.'),
  plan_mode: t('Plan mode only reads.'),
  protected: t('This file is protected.'),
  rejected: strings.states.rejected,
  stale: t('The file has other content.'),
  untrusted: t('This workspace is not trusted.'),
};

/** Undefined: the result itself is shown, also for codes of other versions. */
export function failureText(code: FailureCode | undefined): string | undefined {
  return code && FAILURES[code];
}
