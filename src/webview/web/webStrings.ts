// UI strings of the web chat.
import { t } from '../l10n.ts';

export const webStrings = {
  lost: t('The connection to Earshot is lost.'),
  lostNext: t('Reconnecting… A running turn continues meanwhile.'),
  refused: t('Earshot does not accept this page.'),
  refusedNext: t('Run Earshot: Open Web Chat in VS Code and use the link that it opens.'),
};
