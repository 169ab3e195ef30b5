// The ids that package.json and the code share. `npm run contributions` writes them to package.json.

export const COMMANDS = {
  openChat: 'earshot.openChat',
  newChat: 'earshot.newChat',
  stop: 'earshot.stop',
  approve: 'earshot.approve',
  showRules: 'earshot.showRules',
  deliverNow: 'earshot.deliverNow',
  sendSelection: 'earshot.sendSelection',
  attachFile: 'earshot.attachFile',
  attachFolder: 'earshot.attachFolder',
  attachProblems: 'earshot.attachProblems',
  attachTerminal: 'earshot.attachTerminal',
  explainProblem: 'earshot.explainProblem',
  fixProblem: 'earshot.fixProblem',
  commitMessage: 'earshot.commitMessage',
  applyCode: 'earshot.applyCode',
  showRequest: 'earshot.showRequest',
  previousRequest: 'earshot.previousRequest',
  nextRequest: 'earshot.nextRequest',
  compareRequest: 'earshot.compareRequest',
  compareKnownFile: 'earshot.compareKnownFile',
  copyBugReport: 'earshot.copyBugReport',
  openWalkthrough: 'earshot.openWalkthrough',
  tour: 'earshot.tour',
  showNotifications: 'earshot.showNotifications',
  showOverview: 'earshot.showNotificationsOverview',
  dismissNotification: 'earshot.dismissNotification',
  clearNotifications: 'earshot.clearNotifications',
  muteKind: 'earshot.muteKind',
  muteSource: 'earshot.muteSource',
  mutePath: 'earshot.mutePath',
  showNotification: 'earshot.showNotification',
  filterNotifications: 'earshot.filterNotifications',
  searchNotifications: 'earshot.searchNotifications',
  resetNotificationFilter: 'earshot.resetNotificationFilter',
  showLog: 'earshot.showLog',
  showHubState: 'earshot.showHubState',
  chooseModel: 'earshot.chooseModel',
  setApiKey: 'earshot.setApiKey',
  openConversation: 'earshot.openConversation',
  showConversations: 'earshot.showConversations',
  openSettings: 'earshot.openSettings',
  openWaiting: 'earshot.openWaiting',
  renameConversation: 'earshot.renameConversation',
  forkConversation: 'earshot.forkConversation',
  exportConversation: 'earshot.exportConversation',
  deleteConversation: 'earshot.deleteConversation',
  reviewChanges: 'earshot.reviewChanges',
  keepChanges: 'earshot.keepChanges',
  undoChanges: 'earshot.undoChanges',
  keepFile: 'earshot.keepFile',
  undoFile: 'earshot.undoFile',
  keepChange: 'earshot.keepChange',
  undoChange: 'earshot.undoChange',
  restore: 'earshot.restore',
  restartServer: 'earshot.mcp.restart',
  enableServer: 'earshot.mcp.enable',
  disableServer: 'earshot.mcp.disable',
  signInToServer: 'earshot.mcp.signIn',
  signOutOfServer: 'earshot.mcp.signOut',
  forgetServerInputs: 'earshot.mcp.forgetInputs',
  showServerLog: 'earshot.mcp.showLog',
  pauseEvents: 'earshot.mcp.pauseEvents',
  resumeEvents: 'earshot.mcp.resumeEvents',
  unsubscribeEvents: 'earshot.mcp.unsubscribeEvents',
  runPlugin: 'earshot.runPlugin',
  approvePlugin: 'earshot.approvePlugin',
  stopPlugin: 'earshot.stopPlugin',
  restartPlugin: 'earshot.restartPlugin',
  showPluginLog: 'earshot.showPluginLog',
  openWebChat: 'earshot.openWebChat',
  installForAgents: 'earshot.installForAgents',
  removeFromAgents: 'earshot.removeFromAgents',
  showAgents: 'earshot.showAgents',
} as const;
export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

export const VIEW_CONTAINER = 'earshot';
export const CHAT_VIEW = 'earshot.chat';
/** The context key that is set while a call of the shown conversation waits for approval. */
export const AWAITS_APPROVAL = 'earshot.awaitsApproval';
/** The context key that is set while the chat page has the focus. */
export const CHAT_FOCUSED = 'earshot.chatFocused';
export const MCP_VIEW = 'earshot.mcp';
/** The context key that is set while an MCP server is configured. */
export const HAS_MCP_SERVERS = 'earshot.hasMcpServers';
export const AGENTS_CONTAINER = 'earshot-agents';
export const AGENTS_VIEW = 'earshot.agents';
/** The context key that is set while this window is on a hub. */
export const ON_HUB = 'earshot.onHub';
/** The MCP server that is offered to the editor's own agents. */
export const NOTIFICATIONS_SERVER = 'earshot.notifications';
export const PLUGINS_VIEW = 'earshot.plugins';
/** The context key that says whether there are program plugins to show. */
export const HAS_PLUGINS = 'earshot.hasPlugins';
export const NOTIFICATIONS_CONTAINER = 'earshot-notifications';
export const NOTIFICATIONS_VIEW = 'earshot.notifications';
/** Beside the Notifications view: whether they are used. */
export const OVERVIEW_VIEW = 'earshot.notificationsOverview';
/** The scheme of documents with the content that a code block of the chat proposes. */
export const PROPOSAL_SCHEME = 'earshot-proposal';
/** The scheme of documents that show a request as it was sent. */
export const REQUEST_SCHEME = 'earshot-request';
/** The context key with the files that have changes to review. */
export const CHANGED_FILES = 'earshot.changedFiles';
/** The context key that is set while the Notifications view is filtered. */
export const NOTIFICATIONS_FILTERED = 'earshot.notificationsFiltered';
/** Every setting is in this section; its key within is a `SettingName`. */
export const SETTINGS_SECTION = 'earshot';
