// UI strings of the composer's pickers and of dropping files.
import { t } from './l10n.ts';

export const composerStrings = {
  picker: t('Suggestions'),
  attach: t('Attach files, symbols, problems and more (@)'),
  attachFiles: t('Attach files (@)'),
  attachImages: t('Attach images'),
  dropHint: t('Drop files here to attach them'),
  dropShift: t('To drop files from the Explorer, hold Shift.'),
};
