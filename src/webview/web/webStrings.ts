// UI strings of the web chat.
import { t } from '../strings/l10n.ts';

export const webStrings = {
  lost: t('The connection to Earshot is lost.'),
  lostNext: t('Reconnecting… A running turn continues meanwhile.'),
  confirmDelete: t('Delete this conversation? This cannot be undone.'),
  confirmAll: t('Run every tool call without asking?'),
  refused: t('Earshot does not accept this page.'),
  refusedNext: t('Run Earshot: Open Web Chat in VS Code and use the link that it opens.'),
};
