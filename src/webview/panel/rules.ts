// The permanent approvals as entries of a menu, each of which revokes one: for a page whose host does not list them.
import { ruleLabel } from '../../base/people/ruleLabel.ts';
import type { RuleView } from '../../protocol/page/rulesView.ts';
import type { Actions } from '../render/actions.ts';
import { visibleText } from '../render/visibleText.ts';
import { t } from '../strings/l10n.ts';

export function revocableRules(rules: readonly RuleView[], post: Actions['post']) {
  return rules.map(({ rule, label, conversation, since }) => ({
    id: `rule ${conversation ?? ''} ${rule}`,
    label: t('Revoke “Always”: {0}', visibleText(ruleLabel({ rule, label }, t))),
    detail: describeScope(conversation !== undefined, since),
    icon: 'trash' as const,
    run: () => post({ type: 'remove_rule', rule, ...(conversation !== undefined && { conversation }) }),
  }));
}

function describeScope(isOfConversation: boolean, since: string | undefined): string {
  const scope = isOfConversation ? t('Only in this conversation') : t('In this folder');
  return since === undefined ? scope : `${scope} · ${t('since {0}', new Date(since).toLocaleString())}`;
}
