// Lists the user's permanent approvals (*Always*) with what they cover, where and since when, and revokes them.
import * as vscode from 'vscode';
import { knownToolLabel, otherToolName } from '../../base/toolLabels.ts';
import { type AlwaysRule, type Permissions, type Store } from '../../core/ports/storage.ts';

interface RulesDeps {
  readonly permissions: Permissions;
  readonly store: Pick<Store, 'list'>;
}

/** A command: the rules that the user selects are revoked. */
export async function showRules({ permissions, store }: RulesDeps): Promise<void> {
  const listed = await store.list();
  const titles = new Map(listed.ok ? listed.value.map(({ id, title }) => [id, title]) : []);
  const items = permissions.rules.toReversed().map((rule) => ({
    rule,
    label: describeCalls(rule),
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
  for (const { rule } of chosen ?? []) await permissions.remove(rule);
}

/** How many rules hold in the conversation besides the mode. */
export function countRules(permissions: Permissions, conversation: string | undefined): number {
  return permissions.rules.filter((rule) => (rule.conversation ?? conversation) === conversation).length;
}

/** Call after the conversation was deleted. */
export async function forgetRules(permissions: Permissions, conversation: string): Promise<void> {
  for (const rule of permissions.rules) if (rule.conversation === conversation) await permissions.remove(rule);
}

/** A tool by its name for people; anything else, such as a command, as it is. */
function describeCalls({ rule, label }: AlwaysRule): string {
  const known = rule.startsWith('tool:') ? knownToolLabel(label) : undefined;
  if (known !== undefined) return vscode.l10n.t(known);
  const isOfServer = rule.startsWith('mcp:') && label.includes('__');
  return isOfServer ? otherToolName(label) : label.replaceAll(/\s+/g, ' ');
}

function describeKind({ rule }: AlwaysRule): string {
  switch (rule.slice(0, rule.indexOf(':'))) {
    case 'words':
    case 'line':
      return vscode.l10n.t('exactly this command');
    case 'url':
      return vscode.l10n.t('all pages of this address');
    case 'task':
      return vscode.l10n.t('the task as it was defined then');
    case 'mcp':
      return vscode.l10n.t('calls of an MCP server');
    default:
      return vscode.l10n.t('every call of this tool');
  }
}

function describeScope({ conversation }: AlwaysRule, titles: ReadonlyMap<string, string>): string {
  if (conversation === undefined) return vscode.l10n.t('In this folder');
  const title = titles.get(conversation);
  if (title === undefined) return vscode.l10n.t('In a conversation that is not there any more');
  return vscode.l10n.t('Only in the conversation “{0}”', title);
}

function describeSince({ since }: AlwaysRule): string {
  if (since === undefined) return vscode.l10n.t('of an earlier version');
  return vscode.l10n.t('since {0}', new Date(since).toLocaleString());
}
