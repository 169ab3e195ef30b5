// The commands and menus that package.json contributes.
import { CHANGED_FILES, CHAT_VIEW, COMMANDS, type CommandId, HAS_MCP_SERVERS, MCP_VIEW, PLUGINS_VIEW } from '../ids.ts';

interface CommandContribution {
  readonly title: string;
  readonly icon?: string;
}

/** A command without a title does not compile. */
const CONTRIBUTIONS: Readonly<Record<CommandId, CommandContribution>> = {
  [COMMANDS.openChat]: { title: 'Open Chat', icon: 'comment-discussion' },
  [COMMANDS.newChat]: { title: 'New Chat', icon: 'add' },
  [COMMANDS.stop]: { title: 'Stop', icon: 'debug-stop' },
  [COMMANDS.deliverNow]: { title: 'Deliver Notifications Now', icon: 'bell-dot' },
  [COMMANDS.showLog]: { title: 'Show Log', icon: 'output' },
  [COMMANDS.chooseModel]: { title: 'Choose Model' },
  [COMMANDS.setApiKey]: { title: 'Set API Key' },
  [COMMANDS.openConversation]: { title: 'Open Conversation…', icon: 'history' },
  [COMMANDS.renameConversation]: { title: 'Rename Conversation…', icon: 'edit' },
  [COMMANDS.forkConversation]: { title: 'Fork Conversation', icon: 'repo-forked' },
  [COMMANDS.exportConversation]: { title: 'Export Conversation…', icon: 'export' },
  [COMMANDS.deleteConversation]: { title: 'Delete Conversation…', icon: 'trash' },
  [COMMANDS.reviewChanges]: { title: 'Review Changes', icon: 'diff-multiple' },
  [COMMANDS.keepChanges]: { title: 'Keep All Changes', icon: 'check-all' },
  [COMMANDS.undoChanges]: { title: 'Undo All Changes…', icon: 'discard' },
  [COMMANDS.keepFile]: { title: 'Keep Changes in This File', icon: 'check' },
  [COMMANDS.undoFile]: { title: 'Undo Changes in This File', icon: 'discard' },
  [COMMANDS.keepChange]: { title: 'Keep Change at Cursor' },
  [COMMANDS.undoChange]: { title: 'Undo Change at Cursor' },
  [COMMANDS.restore]: { title: 'Restore to Before a Turn…', icon: 'history' },
  [COMMANDS.restartServer]: { title: 'Start or Restart MCP Server', icon: 'debug-restart' },
  [COMMANDS.enableServer]: { title: 'Enable MCP Server', icon: 'play' },
  [COMMANDS.disableServer]: { title: 'Disable MCP Server', icon: 'circle-slash' },
  [COMMANDS.signInToServer]: { title: 'Sign In to MCP Server', icon: 'account' },
  [COMMANDS.signOutOfServer]: { title: 'Sign Out of MCP Server', icon: 'sign-out' },
  [COMMANDS.forgetServerInputs]: { title: 'Forget Inputs of MCP Server' },
  [COMMANDS.showServerLog]: { title: 'Show Log of MCP Servers', icon: 'output' },
  [COMMANDS.runPlugin]: { title: 'Run Plugin…', icon: 'play' },
  [COMMANDS.approvePlugin]: { title: 'Approve Program Plugin…', icon: 'verified' },
  [COMMANDS.stopPlugin]: { title: 'Stop Program Plugin', icon: 'debug-stop' },
  [COMMANDS.restartPlugin]: { title: 'Restart Program Plugin', icon: 'debug-restart' },
  [COMMANDS.showPluginLog]: { title: 'Show Log of Program Plugin', icon: 'output' },
};

const inChat = `view == ${CHAT_VIEW}`;
const inServers = `view == ${MCP_VIEW}`;
const onServer = (states: string) => `${inServers} && viewItem =~ /^server (${states}) /`;
const inPlugins = `view == ${PLUGINS_VIEW}`;
const hasChanges = `resourcePath in ${CHANGED_FILES}`;

interface MenuItem {
  readonly command: CommandId;
  readonly when: string;
  readonly group?: string;
}

export const menus: Readonly<Record<string, readonly MenuItem[]>> = {
  'view/title': [
    { command: COMMANDS.newChat, when: inChat, group: 'navigation@1' },
    { command: COMMANDS.restore, when: inChat, group: '1_changes@1' },
    { command: COMMANDS.showServerLog, when: inServers, group: 'navigation@1' },
  ],
  'view/item/context': [
    { command: COMMANDS.signInToServer, when: onServer('sign_in'), group: 'inline@1' },
    { command: COMMANDS.enableServer, when: onServer('off'), group: 'inline@1' },
    {
      command: COMMANDS.restartServer,
      when: onServer('approval|starting|ready|lost|failed|sign_in'),
      group: 'inline@2',
    },
    {
      command: COMMANDS.disableServer,
      when: onServer('approval|starting|ready|lost|failed|sign_in'),
      group: 'inline@3',
    },
    { command: COMMANDS.showServerLog, when: onServer('\\w+'), group: 'inline@4' },
    { command: COMMANDS.signOutOfServer, when: `${inServers} && viewItem =~ / http$/`, group: '1_account@1' },
    { command: COMMANDS.forgetServerInputs, when: onServer('\\w+'), group: '1_account@2' },
    { command: COMMANDS.approvePlugin, when: `${inPlugins} && viewItem =~ /not_approved/`, group: 'inline@1' },
    { command: COMMANDS.runPlugin, when: `${inPlugins} && viewItem =~ /stopped|failed/`, group: 'inline@2' },
    { command: COMMANDS.restartPlugin, when: `${inPlugins} && viewItem =~ /running/`, group: 'inline@3' },
    { command: COMMANDS.stopPlugin, when: `${inPlugins} && viewItem =~ /running|attached/`, group: 'inline@4' },
    { command: COMMANDS.showPluginLog, when: inPlugins, group: 'inline@5' },
  ],
  commandPalette: [
    ...[COMMANDS.restartServer, COMMANDS.enableServer, COMMANDS.disableServer, COMMANDS.signInToServer],
    ...[COMMANDS.signOutOfServer, COMMANDS.forgetServerInputs, COMMANDS.showServerLog],
  ].map((command) => ({ command, when: HAS_MCP_SERVERS })),
  'editor/title': [
    { command: COMMANDS.keepFile, when: hasChanges, group: 'navigation@1' },
    { command: COMMANDS.undoFile, when: hasChanges, group: 'navigation@2' },
  ],
  'editor/context': [
    { command: COMMANDS.keepChange, when: hasChanges, group: 'z_earshot@1' },
    { command: COMMANDS.undoChange, when: hasChanges, group: 'z_earshot@2' },
  ],
};

export function contributedCommands(): readonly object[] {
  return Object.values(COMMANDS).map((command) => {
    const { title, icon } = CONTRIBUTIONS[command];
    return { command, title, category: 'Earshot', ...(icon !== undefined && { icon: `$(${icon})` }) };
  });
}
