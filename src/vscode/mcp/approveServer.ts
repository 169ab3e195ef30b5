// The question before a server of the workspace starts: shows its command and the hashes of its files.
import * as vscode from 'vscode';
import { type ConfiguredServer } from '../../mcp/config/configuration.ts';
import { type LaunchProof } from '../../mcp/config/launch.ts';
import { describePins } from '../approvalTexts.ts';
import { type ApprovalQuestion } from '../waitingApprovals.ts';

/** `changed`: an earlier form of the server was approved. */
export function serverQuestion(server: ConfiguredServer, proof: LaunchProof, changed: boolean): ApprovalQuestion {
  const { name, source } = server;
  return {
    subject: serverSubject(name),
    name: vscode.l10n.t('the MCP server “{0}”', name),
    waiting: vscode.l10n.t('The MCP server “{0}” is not running: it needs your approval.', name),
    announcement: announce(server, changed),
    question: vscode.l10n.t('Start the MCP server “{0}”?', name),
    detail: [
      vscode.l10n.t('{0} configures it. It can do whatever you can do on this machine.', source.label),
      ...(changed ? [vscode.l10n.t('It has changed since you approved it.')] : []),
      '',
      proof.command,
      ...proof.details,
      ...describePins(proof.files, proof.unpinned).map((paragraph) => `\n${paragraph}`),
    ].join('\n'),
    approve: vscode.l10n.t('Start Server'),
  };
}

export function serverSubject(name: string): string {
  return `mcp ${name}`;
}

function announce({ name, source }: ConfiguredServer, changed: boolean): string {
  if (changed) {
    return vscode.l10n.t('The MCP server “{0}” in {1} has changed since you approved it.', name, source.label);
  }
  return source.workspace
    ? vscode.l10n.t(
        'This workspace configures the MCP server “{0}” in {1}. It starts only after your approval.',
        name,
        source.label,
      )
    : vscode.l10n.t(
        'The MCP server “{0}” in {1} would run code of this workspace. It starts only after your approval.',
        name,
        source.label,
      );
}
