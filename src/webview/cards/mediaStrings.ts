// UI strings of images and sound in results of calls.
import { t } from '../strings/l10n.ts';

export const mediaStrings = {
  loading: t('Loading…'),
  missing: t('This image or recording is no longer stored.'),
  image: (number: number) => t('Image {0} of the result', number),
  recording: (number: number) => t('Recording {0} of the result', number),
};
