// UI strings of the composer's pickers and of dropping files.
import { t } from './l10n.ts';

export const composerStrings = {
  picker: t('Suggestions'),
  attach: t('Attach files, symbols, problems and more (@)'),
  attachFiles: t('Attach files (@)'),
  attachImages: t('Attach images'),
  dropHint: t('Drop files here to attach them'),
  notDropped: (name: string) =>
    t('{0} cannot be attached from another program: only images can. Drag it from the Explorer, or type @.', name),
  dropShift: t('To drag files here from the Explorer, hold Shift.'),
};
