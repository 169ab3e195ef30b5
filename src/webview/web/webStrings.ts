// UI strings of the web chat.
import { t } from '../strings/l10n.ts';

export const webStrings = {
  lost: t('The connection to Earshot is lost.'),
  lostNext: t('Reconnecting… A running turn continues meanwhile.'),
  confirmDelete: t('Delete this conversation? This cannot be undone.'),
  confirmAll: t('Run every tool call without asking?'),
  refused: t('Earshot does not accept this page.'),
  refusedNext: t('A link is valid once, for five minutes. Run Earshot: Open Web Chat in VS Code for a new one.'),
  refusedOfCommand: t('A command of Earshot has started this browser, so it may not answer here.'),
  refusedOfCommandNext: t('Close the browser, start it yourself, and run Earshot: Open Web Chat in VS Code.'),
};
