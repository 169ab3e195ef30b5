// Offers the MCP server for notifications to the agents of the editor, such as Copilot.
import * as vscode from 'vscode';
import { NOTIFICATIONS_SERVER } from '../ids.ts';
import { workspaceFolder } from '../plugins/windowListening.ts';

/** Offers nothing in forks of VS Code that lack this API. */
export function offerNotificationsServer(context: vscode.ExtensionContext): vscode.Disposable[] {
  const { lm } = vscode as Partial<typeof vscode>;
  if (typeof lm?.registerMcpServerDefinitionProvider !== 'function') return [];
  const folders = new vscode.EventEmitter<void>();
  const { packageJSON } = context.extension as { packageJSON: { version: string } };
  return [
    folders,
    vscode.workspace.onDidChangeWorkspaceFolders(() => folders.fire()),
    lm.registerMcpServerDefinitionProvider(NOTIFICATIONS_SERVER, {
      onDidChangeMcpServerDefinitions: folders.event,
      provideMcpServerDefinitions: () => {
        const folder = workspaceFolder();
        if (folder === undefined) return [];
        const program = context.asAbsolutePath('dist/notifications-mcp.js');
        const args = [program, '--dir', folder, '--agent', 'copilot'];
        // The editor's own Node, since no other may be installed.
        const environment = { ELECTRON_RUN_AS_NODE: '1' };
        const label = vscode.l10n.t('Earshot Notifications');
        return [new vscode.McpStdioServerDefinition(label, process.execPath, args, environment, packageJSON.version)];
      },
    }),
  ];
}
