// Lists the user's permanent approvals (*Always*) with what they cover, where and since when, and revokes them.
import * as vscode from 'vscode';
import { defined } from '../../base/json/defined.ts';
import { ruleLabel } from '../../base/people/ruleLabel.ts';
import { type Client } from '../../core/client/client.ts';
import { type Permissions, type Store } from '../../core/ports/storage.ts';
import { type RuleView, ruleKind, type RuleKind, rulesIn } from '../../protocol/page/rulesView.ts';
import { failureMessage } from '../failureMessage.ts';

interface RulesDeps {
  readonly client: Pick<Client, 'call'>;
  readonly store: Pick<Store, 'list'>;
}

/** A command: the rules that the user selects are revoked. */
export async function showRules({ client, store }: RulesDeps): Promise<void> {
  const [listed, rules] = await Promise.all([store.list(), client.call('list_rules', {})]);
  const titles = new Map(listed.ok ? listed.value.map(({ id, title }) => [id, title]) : []);
  const items = (rules.ok ? rules.value.data : []).toReversed().map((rule) => ({
    rule,
    label: ruleLabel(rule, vscode.l10n.t),
    description: describeKind(rule),
    detail: [describeScope(rule, titles), describeSince(rule)].join(' · '),
  }));
  if (items.length === 0) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('There are no Always rules: only the mode decides which calls need approval.'),
    );
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
    title: vscode.l10n.t('Always Rules'),
    placeHolder: vscode.l10n.t('These calls need no approval. Select the rules to revoke.'),
  });
  for (const { rule: chosenRule } of chosen ?? []) {
    const { rule, conversation } = chosenRule;
    const removed = await client.call('remove_rule', { rule, ...defined({ conversation }) });
    if (!removed.ok) await vscode.window.showWarningMessage(failureMessage(removed.failure));
  }
}

/** How many rules hold in the conversation besides the mode. */
export function countRules(permissions: Permissions, conversation: string | undefined): number {
  return rulesIn(permissions.rules, conversation).length;
}

/** Call after the conversation was deleted. */
export async function forgetRules(permissions: Permissions, conversation: string): Promise<void> {
  for (const rule of permissions.rules) if (rule.conversation === conversation) await permissions.remove(rule);
}

function describeKind(rule: RuleView): string {
  const kinds: Readonly<Record<RuleKind, string>> = {
    command: vscode.l10n.t('exactly this command'),
    url: vscode.l10n.t('all pages of this address'),
    task: vscode.l10n.t('the task as it was defined then'),
    mcp: vscode.l10n.t('calls of an MCP server'),
    tool: vscode.l10n.t('every call of this tool'),
  };
  return kinds[ruleKind(rule)];
}

function describeScope({ conversation }: RuleView, titles: ReadonlyMap<string, string>): string {
  if (conversation === undefined) return vscode.l10n.t('In this folder');
  const title = titles.get(conversation);
  if (title === undefined) return vscode.l10n.t('In a conversation that is not there any more');
  return vscode.l10n.t('Only in the conversation “{0}”', title);
}

function describeSince({ since }: RuleView): string {
  if (since === undefined) return vscode.l10n.t('of an earlier version');
  return vscode.l10n.t('since {0}', new Date(since).toLocaleString());
}
