// Texts of forms that MCP servers ask the user to fill in.
import { t } from '../strings/l10n.ts';

export const formStrings = {
  submit: t('Submit'),
  decline: t('Decline'),
  declineTitle: t('Refuse to provide this information'),
  cancel: t('Cancel'),
  cancelTitle: t('Close the form without an answer'),
  optional: t('optional'),
  choose: t('Choose…'),
  declined: t('Declined.'),
  cancelled: t('Cancelled: the form was not filled in.'),
  yes: t('Yes'),
  no: t('No'),
};
