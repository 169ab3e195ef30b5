// Generates docs/settings-safety.md: every setting that Earshot reads, what it can do, and who may set it.
import { type SettingName } from '../../protocol/settings.ts';
import { SETTING_RULES } from '../../protocol/settingRules.ts';
import { SETTINGS_SECTION } from '../ids.ts';

/** What the worst value of each of Earshot's settings can do. */
const EFFECTS: Readonly<Record<SettingName, string>> = {
  model: 'Sends conversations to another model, which may cost more.',
  baseUrl: 'Sends conversations and the API key to an endpoint.',
  providers: 'Sends conversations, API keys and headers to endpoints.',
  models: 'Raises the cost of requests; hides it by wrong prices.',
  mode: 'Offers tools that change files and run commands.',
  currency: 'Shows costs in a wrong currency.',
  'attention.toast': 'Hides the message that an approval waits. The call keeps waiting.',
  'attention.sound': 'Plays a sound.',
  'attention.systemNotice': 'Starts the notice program of the operating system.',
  sendKey: 'Sends your message with another key.',
  'agents.depth': 'Lets subagents start subagents, which use tokens.',
  'limits.tokens': 'Lets a conversation use more before you are asked.',
  'limits.cost': 'Lets a conversation cost more before you are asked.',
  idleTimeout: 'Aborts requests early, which are then repeated at your cost.',
  'approvals.mode': 'Runs calls without asking.',
  'approvals.commands': 'Runs commands without asking.',
  'approvals.outsideText': 'Runs calls with text from outside without asking.',
  'mcp.servers': 'Starts programs and opens connections.',
  'mcp.inputs': 'Runs commands of the editor for values of MCP servers.',
  'mcp.trustedReadOnly': 'Runs tools of an MCP server without asking.',
  'mcp.events': 'Shows events of MCP servers to the model, and lets them start turns.',
  'mcp.timeout': 'Lets calls of MCP tools fail early or wait up to an hour.',
  'handles.afterTurn': 'Keeps background commands running.',
  'handles.ownerTimeout': 'Keeps commands of a closed window running.',
  'notifications.enable': 'Off: hides changes from the model. It still cannot overwrite a file that changed.',
  'notifications.kinds': 'Off: as above, for a kind.',
  'notifications.producers': 'Off: as above, for a source.',
  'notifications.levels': 'Critical: interrupts and wakes the model, which uses tokens.',
  'notifications.tasks': 'Notifies of tasks that others ran.',
  'notifications.ignoredPaths': 'Hides changes of files from the model, as above.',
  'notifications.activation': 'Interrupts and wakes the model, which uses tokens.',
  'notifications.format': 'Changes how notifications are printed.',
  'notifications.cap': 'Makes requests larger.',
  'notifications.tokenBudget': 'Makes requests larger.',
  tools: 'Off: hides the end of background commands from the model.',
  hooks: 'Runs programs.',
  'hub.enabled': 'Joins the hub, where other agents read and write messages.',
  'hub.role': 'Names the role of the folder’s agents on the hub. It grants nothing.',
  'hub.port': 'Opens a port on this machine.',
  'hub.identity': 'Names you on the hub.',
  'hub.allowedOrigins': 'Lets web pages join the hub.',
  'hub.server': 'Sends messages to another machine.',
  'hub.name': 'Joins the hub of other machines.',
  'hub.machine': 'Names this machine on the hub.',
  'hub.credentials': 'Reads a file and signs in with it.',
  'plugins.programs': 'Runs programs, which may answer approvals.',
  'plugins.respondTimeout': 'Lets the fallback answer before you can.',
  'plugins.respondFallback': 'Answers approvals for you.',
  'webChat.allowedHosts': 'Lets other hosts open the web chat.',
  'scripts.wake': 'Lets every script of this account wake the model, which uses tokens.',
  'scripts.post': 'Lets programs that have its token send lines to the model.',
  forge: 'Asks GitHub or GitLab in your name for the results of pushed commits; logs and comments go to the model.',
  'debug.locals': 'Sends values of variables of debugged programs to the endpoint.',
  'tests.reports': 'Notifies of failed tests by what files of the workspace say.',
  editorContext: 'Sends the name of the active file and, if you choose that, the selected text to the model.',
};

/** What becomes of a value in the workspace’s settings, by the rule of the setting. */
const GUARDS: Readonly<Record<(typeof SETTING_RULES)[SettingName]['by'], string>> = {
  user: 'You. Ignored in a workspace.',
  approved: 'You. Of a workspace only after an approval that shows it.',
  lower: 'You. A workspace may only reduce it.',
  configured: 'You. A workspace may choose one that you have configured; the chat says so.',
  anyone: 'Anyone.',
};

interface EditorSetting {
  readonly effect: string;
  readonly guard: string;
}

/** Settings of VS Code by the name that the code reads; `*` is any text. `test/unit/settingReads.test.ts` compares. */
export const EDITOR_SETTINGS: Readonly<Record<string, EditorSetting>> = {
  'terminal.integrated.automationProfile.*': terminal('Chooses the shell of commands and tasks.'),
  'terminal.integrated.defaultProfile.*': terminal('As above.'),
  'terminal.integrated.profiles.*': terminal('As above.'),
  'terminal.integrated.env.*': terminal('Sets `PATH`, `BASH_ENV`, `LD_PRELOAD`, `NODE_OPTIONS` and the like.'),
  'tasks.tasks': {
    effect: 'Patterns that find the rounds of a background task in its output.',
    guard: 'Anyone. Running a task needs your approval. Matching is ended after 200 ms.',
  },
  'tasks.*': {
    effect: 'The commands and inputs of tasks, which the editor runs.',
    guard: 'Anyone. A task runs only after you have approved its resolved command; any change of it asks again.',
  },
  'files.encoding': { effect: 'How the bytes of a file are read and written.', guard: 'Anyone.' },
  'files.readonlyInclude': {
    effect: 'Which files cannot be changed.',
    guard: 'You. A workspace can add files, not take yours away.',
  },
  'files.readonlyExclude': { effect: 'As above.', guard: 'As above.' },
  'workbench.secondarySideBar.defaultVisibility': {
    effect: 'Whether the chat is shown on the first run.',
    guard: 'Anyone.',
  },
  '*': {
    effect: '`${config:NAME}` in an MCP server or a task: any setting becomes a part of its command or environment.',
    guard: 'For a server you: a workspace’s value is not used. For a task anyone: its approval shows the value.',
  },
};

/** Settings that VS Code applies by itself when Earshot uses it. Earshot does not read them. */
const APPLIED_BY_EDITOR: Readonly<Record<string, EditorSetting>> = {
  'http.*': { effect: 'Proxy and certificates of requests.', guard: 'You: VS Code reads it only from user settings.' },
  'git.path': { effect: 'The git of VS Code. Earshot starts the one on your `PATH`.', guard: 'As above.' },
  'typescript.tsdk, typescript.tsserver.nodePath': {
    effect: 'Choose the language server behind problems and symbols.',
    guard: 'VS Code asks before it uses a workspace’s value.',
  },
  'terminal.integrated.*': {
    effect: 'The shell and the environment of the terminals that you open yourself.',
    guard: 'Anyone, in a trusted workspace. *Run in terminal* does not use a workspace’s values.',
  },
  'npm.packageManager': { effect: 'The program of npm tasks.', guard: 'Anyone. Running a task needs your approval.' },
  'editor.formatOnSave, editor.codeActionsOnSave': {
    effect: 'Run your installed formatters when the agent’s edit is saved.',
    guard: 'Anyone, in a trusted workspace. The result is shown as part of the change.',
  },
};

function terminal(effect: string): EditorSetting {
  return {
    effect,
    guard:
      'You. A workspace’s value is not used for commands and *Run in terminal*; tasks run with it after your approval.',
  };
}

export function settingsSafetyPage(): string {
  const own = Object.entries(EFFECTS).map(([name, effect]) => {
    const { by } = SETTING_RULES[name as SettingName];
    return [`${SETTINGS_SECTION}.${name}`, { effect, guard: GUARDS[by] }] as const;
  });
  return `# Who may set what

A workspace’s settings (\`.vscode/settings.json\`, \`.code-workspace\`) come with the repository, so anybody may have written them.
Trusting a workspace does not make them yours: none of them chooses a program, an interpreter or an environment
without an approval that shows it, and none lifts a limit that you have set. *You* are your user settings, those of
the remote machine, and the extensions that you have installed. The chat names values of a workspace that Earshot ignores.

This page is written by \`npm run contributions\`.

## Settings of Earshot

${printTable(own)}
## Settings of VS Code that Earshot reads

${printTable(Object.entries(EDITOR_SETTINGS))}
## Settings that VS Code applies when Earshot uses it

${printTable(Object.entries(APPLIED_BY_EDITOR))}`;
}

function printTable(rows: readonly (readonly [string, EditorSetting])[]): string {
  const printed = rows.map(([name, { effect, guard }]) => `| \`${name}\` | ${effect} | ${guard} |\n`);
  return `| setting | what it can do | who may set it |\n|---|---|---|\n${printed.join('')}`;
}
