// The commands and menus that package.json contributes.
import {
  AWAITS_APPROVAL,
  CHANGED_FILES,
  CHAT_FOCUSED,
  CHAT_VIEW,
  COMMANDS,
  type CommandId,
  HAS_MCP_SERVERS,
  MCP_VIEW,
  NOTIFICATIONS_FILTERED,
  NOTIFICATIONS_VIEW,
  ON_HUB,
  PLUGINS_VIEW,
  PROPOSAL_SCHEME,
  REQUEST_SCHEME,
} from '../ids.ts';

interface CommandContribution {
  readonly title: string;
  readonly icon?: string;
  /** False: the command needs the item that it is called for, so the Command Palette does not list it. */
  readonly inPalette?: false;
}

/** A command without a title does not compile. */
const CONTRIBUTIONS: Readonly<Record<CommandId, CommandContribution>> = {
  [COMMANDS.openChat]: { title: 'Open Chat', icon: 'comment-discussion' },
  [COMMANDS.newChat]: { title: 'New Chat', icon: 'add' },
  [COMMANDS.stop]: { title: 'Stop', icon: 'debug-stop' },
  [COMMANDS.approve]: { title: 'Approve First Waiting Call', icon: 'check' },
  [COMMANDS.showRules]: { title: 'Manage Always Rules…', icon: 'shield' },
  [COMMANDS.deliverNow]: { title: 'Deliver Notifications Now', icon: 'bell-dot' },
  [COMMANDS.sendSelection]: { title: 'Add Selection to Chat' },
  [COMMANDS.attachFile]: { title: 'Add File to Chat' },
  [COMMANDS.attachFolder]: { title: 'Add Folder to Chat', inPalette: false },
  [COMMANDS.attachProblems]: { title: 'Add Problems of This File to Chat' },
  [COMMANDS.attachTerminal]: { title: 'Add Last Terminal Command to Chat' },
  [COMMANDS.explainProblem]: { title: 'Explain Problem' },
  [COMMANDS.fixProblem]: { title: 'Fix Problem' },
  [COMMANDS.commitMessage]: { title: 'Write Commit Message', icon: 'sparkle' },
  [COMMANDS.applyCode]: { title: 'Apply Code from Chat', icon: 'check', inPalette: false },
  [COMMANDS.showRequest]: { title: 'Show What the Model Saw' },
  [COMMANDS.previousRequest]: { title: 'Previous Request', icon: 'arrow-left', inPalette: false },
  [COMMANDS.nextRequest]: { title: 'Next Request', icon: 'arrow-right', inPalette: false },
  [COMMANDS.compareRequest]: { title: 'Compare with Previous Request', icon: 'diff', inPalette: false },
  [COMMANDS.compareKnownFile]: { title: 'Compare File with Now…', icon: 'file', inPalette: false },
  [COMMANDS.copyBugReport]: { title: 'Copy as Bug Report', icon: 'copy', inPalette: false },
  [COMMANDS.openWalkthrough]: { title: 'Get Started' },
  [COMMANDS.tour]: { title: 'Take the Tour' },
  [COMMANDS.showNotifications]: { title: 'Show Notifications', icon: 'bell' },
  [COMMANDS.showOverview]: { title: 'Show Notifications Overview', icon: 'graph' },
  [COMMANDS.dismissNotification]: { title: 'Dismiss Notification', icon: 'close', inPalette: false },
  [COMMANDS.clearNotifications]: { title: 'Dismiss All Pending Notifications', icon: 'clear-all' },
  [COMMANDS.muteKind]: { title: 'Mute This Kind…', icon: 'bell-slash' },
  [COMMANDS.muteSource]: { title: 'Mute This Source', inPalette: false },
  [COMMANDS.mutePath]: { title: 'Mute This File', inPalette: false },
  [COMMANDS.showNotification]: { title: 'Show Text', icon: 'go-to-file', inPalette: false },
  [COMMANDS.filterNotifications]: { title: 'Filter Notifications…', icon: 'filter' },
  [COMMANDS.searchNotifications]: { title: 'Search Notifications…', icon: 'search' },
  [COMMANDS.resetNotificationFilter]: { title: 'Reset Notification Filter', icon: 'filter-filled' },
  [COMMANDS.showLog]: { title: 'Show Log', icon: 'output' },
  [COMMANDS.showHubState]: { title: 'Show Hub State' },
  [COMMANDS.chooseModel]: { title: 'Choose Model' },
  [COMMANDS.setApiKey]: { title: 'Set API Key' },
  [COMMANDS.openConversation]: { title: 'Open Conversation…' },
  [COMMANDS.showConversations]: { title: 'Show Conversations', icon: 'history' },
  [COMMANDS.openSettings]: { title: 'Open Settings', icon: 'gear' },
  [COMMANDS.openWaiting]: { title: 'Go to Waiting Conversation' },
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
  [COMMANDS.pauseEvents]: { title: 'Pause Events', icon: 'debug-pause', inPalette: false },
  [COMMANDS.resumeEvents]: { title: 'Resume Events', icon: 'play', inPalette: false },
  [COMMANDS.unsubscribeEvents]: { title: 'Unsubscribe from Events', icon: 'trash', inPalette: false },
  [COMMANDS.runPlugin]: { title: 'Run Plugin…', icon: 'play' },
  [COMMANDS.approvePlugin]: { title: 'Approve Program Plugin…', icon: 'verified' },
  [COMMANDS.stopPlugin]: { title: 'Stop Program Plugin', icon: 'debug-stop' },
  [COMMANDS.restartPlugin]: { title: 'Restart Program Plugin', icon: 'debug-restart' },
  [COMMANDS.showAgents]: { title: 'Show Agents', icon: 'organization' },
  [COMMANDS.openWebChat]: { title: 'Open Web Chat', icon: 'globe' },
  [COMMANDS.installForAgents]: { title: 'Install Notifications for Other Agents…' },
  [COMMANDS.removeFromAgents]: { title: 'Remove Notifications for Other Agents…' },
  [COMMANDS.showPluginLog]: { title: 'Show Log of Program Plugin', icon: 'output' },
};

const inChat = `view == ${CHAT_VIEW}`;
const inServers = `view == ${MCP_VIEW}`;
const onServer = (states: string) => `${inServers} && viewItem =~ /^server (${states}) /`;
const inPlugins = `view == ${PLUGINS_VIEW}`;
const inNotifications = `view == ${NOTIFICATIONS_VIEW}`;
const anyNotification = `${inNotifications} && viewItem =~ /notification/`;
const pendingNotification = `${inNotifications} && viewItem =~ /pending/`;
const showsRequest = `resourceScheme == ${REQUEST_SCHEME}`;
const hasChanges = `resourcePath in ${CHANGED_FILES}`;

interface MenuItem {
  readonly command: CommandId;
  readonly when: string;
  readonly group?: string;
}

export const menus: Readonly<Record<string, readonly MenuItem[]>> = {
  'view/title': [
    // In a narrow side bar VS Code hides the first of these.
    { command: COMMANDS.openSettings, when: inChat, group: 'navigation@1' },
    { command: COMMANDS.showConversations, when: inChat, group: 'navigation@2' },
    { command: COMMANDS.newChat, when: inChat, group: 'navigation@3' },
    { command: COMMANDS.renameConversation, when: inChat, group: '1_conversation@1' },
    { command: COMMANDS.forkConversation, when: inChat, group: '1_conversation@2' },
    { command: COMMANDS.exportConversation, when: inChat, group: '1_conversation@3' },
    { command: COMMANDS.deleteConversation, when: inChat, group: '1_conversation@4' },
    { command: COMMANDS.reviewChanges, when: inChat, group: '2_changes@1' },
    { command: COMMANDS.restore, when: inChat, group: '2_changes@2' },
    { command: COMMANDS.showNotifications, when: inChat, group: '3_notifications@1' },
    { command: COMMANDS.deliverNow, when: inChat, group: '3_notifications@2' },
    { command: COMMANDS.clearNotifications, when: inChat, group: '3_notifications@3' },
    { command: COMMANDS.muteKind, when: inChat, group: '3_notifications@4' },
    { command: COMMANDS.chooseModel, when: inChat, group: '4_model@1' },
    { command: COMMANDS.setApiKey, when: inChat, group: '4_model@2' },
    { command: COMMANDS.showAgents, when: `${inChat} && ${ON_HUB}`, group: '5_agents@1' },
    { command: COMMANDS.showHubState, when: `${inChat} && ${ON_HUB}`, group: '5_agents@2' },
    { command: COMMANDS.installForAgents, when: inChat, group: '5_agents@3' },
    { command: COMMANDS.removeFromAgents, when: inChat, group: '5_agents@4' },
    { command: COMMANDS.runPlugin, when: inChat, group: '6_programs@1' },
    { command: COMMANDS.openWebChat, when: inChat, group: '6_programs@2' },
    { command: COMMANDS.openWalkthrough, when: inChat, group: '7_help@1' },
    { command: COMMANDS.showLog, when: inChat, group: '7_help@2' },
    { command: COMMANDS.showServerLog, when: inServers, group: 'navigation@1' },
    { command: COMMANDS.searchNotifications, when: inNotifications, group: 'navigation@1' },
    {
      command: COMMANDS.filterNotifications,
      when: `${inNotifications} && !${NOTIFICATIONS_FILTERED}`,
      group: 'navigation@2',
    },
    {
      command: COMMANDS.resetNotificationFilter,
      when: `${inNotifications} && ${NOTIFICATIONS_FILTERED}`,
      group: 'navigation@2',
    },
    { command: COMMANDS.showOverview, when: inNotifications, group: 'navigation@0' },
    { command: COMMANDS.deliverNow, when: inNotifications, group: 'navigation@3' },
    { command: COMMANDS.clearNotifications, when: inNotifications, group: 'navigation@4' },
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
    // Also in the context menu, which the keyboard opens.
    ...['inline', '1_events'].flatMap((group) => [
      { command: COMMANDS.pauseEvents, when: `${inServers} && viewItem == events`, group: `${group}@1` },
      { command: COMMANDS.resumeEvents, when: `${inServers} && viewItem == pausedEvents`, group: `${group}@1` },
      { command: COMMANDS.unsubscribeEvents, when: `${inServers} && viewItem =~ /events$/i`, group: `${group}@2` },
    ]),
    { command: COMMANDS.approvePlugin, when: `${inPlugins} && viewItem =~ /not_approved/`, group: 'inline@1' },
    { command: COMMANDS.runPlugin, when: `${inPlugins} && viewItem =~ /stopped|failed/`, group: 'inline@2' },
    { command: COMMANDS.restartPlugin, when: `${inPlugins} && viewItem =~ /running/`, group: 'inline@3' },
    { command: COMMANDS.stopPlugin, when: `${inPlugins} && viewItem =~ /running|attached/`, group: 'inline@4' },
    { command: COMMANDS.showPluginLog, when: inPlugins, group: 'inline@5' },
    { command: COMMANDS.showNotification, when: anyNotification, group: 'inline@1' },
    { command: COMMANDS.dismissNotification, when: pendingNotification, group: 'inline@2' },
    { command: COMMANDS.deliverNow, when: pendingNotification, group: '1_deliver@1' },
    { command: COMMANDS.dismissNotification, when: pendingNotification, group: '1_deliver@2' },
    { command: COMMANDS.muteKind, when: anyNotification, group: '2_mute@1' },
    { command: COMMANDS.mutePath, when: `${inNotifications} && viewItem =~ /file/`, group: '2_mute@2' },
    { command: COMMANDS.muteSource, when: anyNotification, group: '2_mute@3' },
  ],
  commandPalette: [
    ...paletteExclusions(),
    ...[
      ...[COMMANDS.restartServer, COMMANDS.enableServer, COMMANDS.disableServer, COMMANDS.signInToServer],
      ...[COMMANDS.signOutOfServer, COMMANDS.forgetServerInputs, COMMANDS.showServerLog],
    ].map((command) => ({ command, when: HAS_MCP_SERVERS })),
  ],
  'editor/title': [
    { command: COMMANDS.applyCode, when: `resourceScheme == ${PROPOSAL_SCHEME}`, group: 'navigation@1' },
    { command: COMMANDS.previousRequest, when: showsRequest, group: 'navigation@1' },
    { command: COMMANDS.nextRequest, when: showsRequest, group: 'navigation@2' },
    { command: COMMANDS.compareRequest, when: showsRequest, group: 'navigation@3' },
    { command: COMMANDS.compareKnownFile, when: showsRequest, group: 'navigation@4' },
    { command: COMMANDS.copyBugReport, when: showsRequest, group: 'navigation@5' },
    { command: COMMANDS.keepFile, when: hasChanges, group: 'navigation@1' },
    { command: COMMANDS.undoFile, when: hasChanges, group: 'navigation@2' },
  ],
  'explorer/context': [
    { command: COMMANDS.attachFile, when: '!explorerResourceIsFolder', group: '5_earshot@1' },
    { command: COMMANDS.attachFolder, when: 'explorerResourceIsFolder', group: '5_earshot@1' },
  ],
  'terminal/context': [{ command: COMMANDS.attachTerminal, when: 'terminalIsOpen', group: 'z_earshot@1' }],
  'scm/title': [{ command: COMMANDS.commitMessage, when: 'scmProvider == git', group: 'navigation@1' }],
  'editor/context': [
    { command: COMMANDS.sendSelection, when: 'editorHasSelection', group: 'y_earshot@1' },
    { command: COMMANDS.attachFile, when: '!editorHasSelection', group: 'y_earshot@1' },
    { command: COMMANDS.attachProblems, when: 'editorTextFocus', group: 'y_earshot@2' },
    { command: COMMANDS.fixProblem, when: 'editorTextFocus', group: 'y_earshot@3' },
    { command: COMMANDS.explainProblem, when: 'editorTextFocus', group: 'y_earshot@4' },
    { command: COMMANDS.keepChange, when: hasChanges, group: 'z_earshot@1' },
    { command: COMMANDS.undoChange, when: hasChanges, group: 'z_earshot@2' },
  ],
};

function paletteExclusions(): readonly MenuItem[] {
  return Object.values(COMMANDS).flatMap((command) =>
    CONTRIBUTIONS[command].inPalette === false ? [{ command, when: 'false' }] : [],
  );
}

/** Keys that VS Code and its built-in extensions do not use in these contexts, on any system. */
export const keybindings: readonly object[] = [
  { command: COMMANDS.openChat, key: 'ctrl+alt+e', mac: 'cmd+alt+e' },
  { command: COMMANDS.newChat, key: 'ctrl+alt+x', mac: 'cmd+alt+x', when: CHAT_FOCUSED },
  {
    command: COMMANDS.approve,
    key: 'ctrl+alt+j',
    mac: 'cmd+alt+j',
    when: `view.${CHAT_VIEW}.visible && ${AWAITS_APPROVAL}`,
  },
  { command: COMMANDS.keepChange, key: 'ctrl+alt+k', mac: 'cmd+alt+k', when: `editorTextFocus && ${hasChanges}` },
  { command: COMMANDS.undoChange, key: 'ctrl+alt+u', mac: 'cmd+alt+u', when: `editorTextFocus && ${hasChanges}` },
  { command: COMMANDS.previousRequest, key: 'alt+left', when: showsRequest },
  { command: COMMANDS.nextRequest, key: 'alt+right', when: showsRequest },
  { command: COMMANDS.sendSelection, key: 'ctrl+alt+a', mac: 'cmd+alt+a', when: 'editorHasSelection' },
];

export function contributedCommands(): readonly object[] {
  return Object.values(COMMANDS).map((command) => {
    const { title, icon } = CONTRIBUTIONS[command];
    return { command, title, category: 'Earshot', ...(icon !== undefined && { icon: `$(${icon})` }) };
  });
}
