// UI strings of images and sound in results of calls.
import { t } from '../strings/l10n.ts';

export const mediaStrings = {
  loading: t('Loading…'),
  missing: t('This image or recording is no longer stored.'),
  image: (number: number) => t('Image {0} of the result', number),
  sentImages: t('Attached images'),
  sentImage: (name: string) => t('Attached image {0}', name),
  sentImageMissing: (name: string) => t('{0} is no longer stored.', name),
  recording: (number: number) => t('Recording {0} of the result', number),
};
