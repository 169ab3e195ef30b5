// The settings that package.json contributes: types, defaults and limits from their schemas, texts from the table here.
import { type SettingName } from '../../protocol/settings.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import {
  hookProperties,
  PROVIDER,
  kindProperties,
  levelProperties,
  PROGRAM,
  producerProperties,
  schemaOf,
  toolProperties,
  FORGE_WAYS,
} from './settingProperties.ts';
import { SECTIONS, sectionOf } from './settingSections.ts';

interface SettingContribution {
  readonly scope: 'machine' | 'window' | 'resource';
  /** Not read from an untrusted workspace. */
  readonly restricted?: true;
  readonly markdownDescription: string;
  /** One for each value of an enum. */
  readonly enumDescriptions?: readonly string[];
  /** JSON Schema that cannot be derived from the setting's schema. */
  readonly schema?: object;
}

/** It goes with the user to a remote machine, whose settings may replace it. Values of a workspace are ignored. */
const FOLLOWS_USER = { scope: 'window', restricted: true } as const;
/** It stays on the machine: in a remote window the remote machine's settings count. */
const OWN_MACHINE = { scope: 'machine', restricted: true } as const;

/** In the order of the Settings editor, within each section. A setting without an entry does not compile. */
const CONTRIBUTIONS: Readonly<Record<SettingName, SettingContribution>> = {
  model: {
    scope: 'window',
    markdownDescription:
      'Model of new conversations: `<id>/<model>` for a provider of `#earshot.providers#`, a name that the endpoint in `#earshot.baseUrl#` knows, or `vscode:vendor/id` for a model of VS Code. Empty: the built-in **Guide**, which works offline and uses no AI. *Earshot: Choose Model* chooses for the conversation that is shown, and for new ones. A workspace can choose only a model of `#earshot.models#` in your user settings.',
  },
  providers: {
    ...FOLLOWS_USER,
    markdownDescription:
      'Providers of models, by an id of your choice: `{"work": {"name": "Work", "api": "responses", "baseUrl": "https://models.example/v1", "headers": {"x-team": "tea"}, "models": ["gpt-6-sol"]}}`. `api` is `chat`, `responses` or `messages`; without it Earshot chooses by the host. `headers` are sent only to this provider. `models` are offered if it does not list its own. *Earshot: Choose Model* adds well-known providers, *Earshot: Set API Key* stores their keys; a key is also read from the environment variable `EARSHOT_API_KEY_<ID>`. Only read from user settings.',
    schema: { type: 'object', additionalProperties: PROVIDER },
  },
  baseUrl: {
    ...FOLLOWS_USER,
    markdownDescription:
      'Address of an endpoint without an entry in `#earshot.providers#`, for example `http://127.0.0.1:11434/v1`. Set the API key with *Earshot: Set API Key* or in the environment variable `EARSHOT_API_KEY` (for OpenAI also `OPENAI_API_KEY`); it is never read from the settings.',
    schema: { type: 'string' },
  },
  models: {
    scope: 'window',
    markdownDescription:
      'Options for each model, by its name: `{"gpt-5.1": {"reasoningEffort": "low", "contextWindow": 400000, "prices": {"input": 1.25, "output": 10, "cached": 0.125}}}`. Prices are per million tokens. Only read from user settings.',
  },
  sendKey: {
    scope: 'window',
    markdownDescription: 'Key that sends the message.',
    enumDescriptions: [
      'Enter sends, Shift+Enter begins a new line.',
      'Ctrl+Enter (Cmd+Enter on macOS) sends, Enter begins a new line.',
    ],
  },
  'attention.toast': {
    scope: 'window',
    markdownDescription:
      'Show a message when an approval or a question is waiting, or a turn has ended, while the chat is hidden.',
  },
  'attention.sound': {
    scope: 'window',
    markdownDescription:
      'Play a short sound when an approval or a question is waiting, or a turn has ended. Reload the window after changing this setting, so that a hidden chat plays the sound, too.',
  },
  'attention.systemNotice': {
    scope: 'machine',
    markdownDescription:
      'Also show a notice of the operating system (`notify-send` on Linux, `osascript` on macOS) while the window is not focused. Only in a local desktop window.',
  },
  currency: {
    scope: 'window',
    markdownDescription:
      'Currency of the prices in `#earshot.models#`, as an ISO 4217 code such as `EUR`. Earshot knows prices of many models in US dollars; with another currency only your own prices count.',
  },
  mode: {
    scope: 'window',
    markdownDescription: 'Which tools the agent may use in conversations in which you have not chosen a mode.',
    enumDescriptions: ['All tools.', 'Only tools that read: the model investigates and proposes.'],
  },
  idleTimeout: {
    scope: 'window',
    markdownDescription:
      'Seconds without any data from the endpoint after which a request is aborted. A local model may need a long time for its first token.',
  },
  'approvals.mode': {
    ...OWN_MACHINE,
    markdownDescription:
      'Which tool calls run without approval, in conversations in which you have not chosen it below the composer. Files outside the workspace and protected files (`.git`, `.vscode`, `.env`, keys, files listed in `.earshotignore`) need approval in every mode, and so does a command line whose effects Earshot cannot determine. Earshot cannot see aliases, shell functions or what programs do internally. Except in the first and the last mode, your *Always* rules allow more: [manage them](command:earshot.showRules).',
    enumDescriptions: [
      'Every tool call needs approval.',
      'Changes and commands need approval; reading does not.',
      'Commands need approval; reading and editing files of the workspace does not.',
      'Only files outside the workspace and protected files need approval.',
    ],
  },
  'approvals.commands': {
    ...OWN_MACHINE,
    markdownDescription:
      'Commands that run without approval, compared word by word: `git status` allows exactly that, `npm test *` also allows more arguments. Command lines are parsed for the shell that runs them (sh, bash, zsh, fish, PowerShell, cmd). A line with several commands, substitutions or redirections always needs approval, and so does every line for any other shell. The list does not count while every tool call needs approval (`#earshot.approvals.mode#`).',
  },
  'approvals.outsideText': {
    ...OWN_MACHINE,
    markdownDescription:
      'Whether you are asked for calls with text from outside. Approvals mark text that stands word for word in a page, a result of an MCP server, a message, a notification or a file outside the workspace, and that neither you nor a file of the workspace has.',
    enumDescriptions: [
      'If such a text is a command, an address or a path outside the workspace, the call needs approval in every mode.',
      'Such text is only marked where approval is needed anyway.',
    ],
  },
  'agents.depth': {
    scope: 'window',
    markdownDescription:
      'How many levels of subagents are allowed: with 1 only your conversations can start them, with 0 nobody can. At most 4 run at once for one of your conversations; their tokens count towards its limits.',
  },
  'limits.tokens': {
    scope: 'window',
    markdownDescription:
      'Asks you before a conversation continues, each time it has used this many tokens, as counted by the endpoint. 0: no limit. A workspace can only lower it.',
  },
  'limits.cost': {
    scope: 'window',
    markdownDescription:
      'Asks you before a conversation continues, each time it has cost this much, in the currency of the prices in `#earshot.models#`. 0: no limit. A workspace can only lower it.',
  },
  'notifications.enable': {
    scope: 'resource',
    markdownDescription:
      "Notifies the model of what happens while it works. Off: notifications are still recorded in the conversation's log.",
  },
  'notifications.kinds': {
    scope: 'resource',
    markdownDescription:
      'Turns kinds of notifications off, by source and name: `{"mcp": {"reconnected": false}, "terminal": {"enable": false}}`. Notifications that are off are not delivered, but still recorded in the conversation\'s log.',
    schema: { properties: kindProperties() },
  },
  'notifications.levels': {
    scope: 'resource',
    markdownDescription:
      'Changes the level of a kind of notification: `{"task.ended": "critical"}`. A critical notification interrupts the model.',
    schema: { properties: levelProperties() },
  },
  'notifications.ignoredPaths': {
    scope: 'resource',
    markdownDescription:
      'Files and folders whose changes and problems are not reported to the model, as glob patterns relative to the workspace: `["dist", "**/*.snap"]`. A folder includes everything in it.',
  },
  'notifications.activation': {
    scope: 'resource',
    markdownDescription:
      'What a notification may do besides being delivered with the next tool result or your next message.',
    enumDescriptions: [
      'Critical notifications interrupt the model; mentions and the end of its background commands wake it when it is idle.',
      'Nothing interrupts the model; critical notifications, mentions and the end of its background commands wake it when it is idle.',
      'Notifications never start a turn: they are delivered with the next tool result or your next message.',
    ],
  },
  'notifications.format': {
    scope: 'resource',
    markdownDescription: 'Format of notifications for the model.',
    enumDescriptions: [
      'A system or developer message for models that are verified to read it inside a conversation; otherwise the same as xml.',
      'An XML block at the end of the tool result, or before your message.',
      'A list in which text of others is quoted, as a system or developer message where the model is verified to read it, otherwise at the same place as xml.',
      'A Markdown list grouped by level.',
      'A synthetic tool call and its result; models may learn to call it.',
    ],
  },
  'notifications.cap': {
    scope: 'resource',
    markdownDescription: 'Maximum number of notifications that are shown at once; the rest is counted.',
  },
  'notifications.tokenBudget': {
    scope: 'resource',
    markdownDescription:
      "Approximate maximum of tokens for the notifications that are shown at once. Never more than 2 % of the model's context window, but at least 300. The most severe notification is always shown, shortened if necessary.",
  },
  'notifications.producers': {
    scope: 'resource',
    markdownDescription:
      'Turns sources of notifications off immediately: with `{"terminals": false}` terminals are not watched. A source that is off records nothing; to record notifications without delivering them, use `#earshot.notifications.kinds#`.',
    schema: { properties: producerProperties() },
  },
  'notifications.tasks': {
    scope: 'resource',
    markdownDescription: 'Which tasks a conversation is notified of when they end.',
    enumDescriptions: [
      'Every task, also those that others started.',
      'Only tasks that the conversation has run before.',
    ],
  },
  tools: {
    scope: 'resource',
    markdownDescription:
      'Options for each tool. `notifications` turns off notifications that the tool causes later: `{"run_command": {"notifications": {"waiting": false}}}`.',
    schema: { properties: toolProperties() },
  },
  'mcp.servers': {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'MCP servers by name: `{"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}"]}, "docs": {"url": "https://example.com/mcp"}}`. Also read from `.vscode/mcp.json` and `.mcp.json` in the workspace and `mcp.json` in the profile. Servers of a workspace start after your approval. `${input:id}` refers to `#earshot.mcp.inputs#`.',
  },
  'mcp.inputs': {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'Values that servers in `#earshot.mcp.servers#` use as `${input:id}`. You are asked for them once; they are kept in the secret storage: `[{"type": "promptString", "id": "token", "description": "Access token", "password": true}]`.',
  },
  'mcp.trustedReadOnly': {
    ...OWN_MACHINE,
    markdownDescription:
      'Names of MCP servers whose read-only hints you trust: tools that such a server marks as read-only are treated like reading a file, in `#earshot.approvals.mode#` and in Plan mode. Tools of other servers are treated like commands, whatever the servers say.',
  },
  'mcp.events': {
    ...OWN_MACHINE,
    markdownDescription:
      'Events of MCP servers to which conversations are subscribed: `[{"server": "github", "event": "issue.updated", "arguments": {"repository": "me/app"}, "wake": true, "conversations": "new"}]`. With `"wake": true` an event may start a turn without you, in each conversation at most 50 times within 7 days. `"conversations"` is `"all"` (default: every open one) or `"new"`. The model itself subscribes with the tool `subscribe_events`, after your approval.',
  },
  'mcp.timeout': {
    scope: 'window',
    markdownDescription:
      'Seconds that a call of an MCP tool may take without an answer and without reporting progress.',
  },
  'plugins.programs': {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'Program plugins: programs that follow conversations, answer and start turns over JSON lines. By name (`a-z`, `0-9`, `_`, `-`): `{"titles": {"command": ["./tools/titles.sh"], "run": "ask", "start": "manual", "options": {}, "approve": false}}`. A program runs in the workspace folder, never in an untrusted workspace, and only after you have approved its command and files. `"run": "allow"` (never ask), `"start": "window"` (start with each window) and `"approve": true` (may answer approvals and questions) count only in user settings. A program of your user settings cannot be changed by a workspace.',
    schema: { properties: {}, additionalProperties: PROGRAM },
  },
  'plugins.respondTimeout': {
    scope: 'window',
    markdownDescription:
      'Seconds after which an approval or a question that program plugins were asked is answered automatically. There is no time limit while a chat view of any window shows the conversation.',
  },
  'plugins.respondFallback': {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'The automatic answer to an approval after `#earshot.plugins.respondTimeout#`. `approve` counts only in user settings.',
    enumDescriptions: ['The tool call is rejected.', 'The tool call is approved.'],
  },
  'webChat.allowedHosts': {
    ...OWN_MACHINE,
    markdownDescription:
      'Hosts by which the web chat may be reached besides `localhost`, such as the name of a tunnel or a proxy: `name` or `name:port`. The host by which VS Code forwards its port is always allowed.',
  },
  'scripts.wake': {
    ...OWN_MACHINE,
    markdownDescription:
      'Let every script wake the model with `earshot-notify --wake`. Off: only background commands of the conversation itself can, since you approved them.',
  },
  'scripts.post': {
    ...OWN_MACHINE,
    markdownDescription:
      'Accept lines by HTTP: `POST /notify` on the address of the web chat, with the token in `~/.earshot/notify-token`, which allows nothing else.',
  },
  forge: {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'How Earshot asks GitHub or GitLab for CI results, reviews and the state of pull requests of commits that a conversation has pushed, so that the conversation gets them. Nothing is asked before you have chosen. A workspace can only switch it off.',
    enumDescriptions: FORGE_WAYS,
  },
  'debug.locals': {
    ...OWN_MACHINE,
    markdownDescription:
      'Shows the model the local variables of the innermost frame in the workspace when a debugged program stops: at most 12, each cut after 120 characters, without values that look like secrets. Nothing is evaluated.',
  },
  'tests.reports': {
    scope: 'resource',
    markdownDescription:
      'Reports that test runners of the project write, as glob patterns relative to the workspace: `["reports/junit.xml", "**/test-results.json"]`. JUnit XML and the JSON of Vitest and Jest are read, up to 16 MB. The model is notified of what changed since the run before.',
  },
  editorContext: {
    scope: 'window',
    markdownDescription:
      'What a new conversation is told about the active editor with each of your messages, once for each state. The chip above the composer shows it and changes it for the conversation.',
    enumDescriptions: [
      'Nothing.',
      'The name of the file and the numbers of the selected lines.',
      'The selected text too, if it has at most 60 lines.',
    ],
  },
  'handles.afterTurn': {
    scope: 'window',
    markdownDescription:
      'What happens to background commands when the model has answered. They always end with the window that owns them.',
    enumDescriptions: [
      'They keep running. The model is notified when one ends or seems to wait for input.',
      'The turn continues until they have ended, and the model is notified.',
      'They are stopped.',
    ],
  },
  hooks: {
    scope: 'window',
    restricted: true,
    markdownDescription:
      'Your own commands that run at certain points of a turn: `user_prompt`, `before_tool`, `after_tool`, `turn_end` and `notification`. For example `{"before_tool": [{"matcher": "run_command", "command": ["/home/you/hooks/guard.sh"], "timeout": 10}]}`. A hook reads JSON from stdin and answers as hooks of Claude Code do: exit code 2 refuses with the reason on stderr; `additionalContext` is added for the model. It can refuse and add context, but never approve. Hooks run in the workspace folder, never in an untrusted workspace; those that a workspace configures, or that run a file of the workspace, run only after you have approved their command and files.',
    schema: { properties: hookProperties(), additionalProperties: false },
  },
  'hub.enabled': {
    scope: 'window',
    markdownDescription:
      'Makes each conversation an agent on the hub of the workspace folder: conversations of all windows, and programs that join the hub, can send each other messages. Nothing leaves this machine.',
  },
  'hub.role': {
    scope: 'resource',
    markdownDescription:
      'Role of the conversations of this folder on the hub, for example `reviewer`. Other agents can write to a role instead of a name. 1 to 32 characters of `a-z`, `0-9`, `_` and `-`; empty: none.',
    schema: { type: 'string' },
  },
  'hub.port': {
    ...OWN_MACHINE,
    markdownDescription:
      'First port that the hub tries for WebSocket clients, on 127.0.0.1 only; if it is taken, the next free one. The address and its access token are in `hub.json` in the folder of the hub.',
  },
  'hub.identity': {
    ...OWN_MACHINE,
    markdownDescription:
      'Agent that represents programs which connect to the hub without registering: `name`, `name:role` or `name:role:module`. Empty: such programs are refused.',
    schema: { type: 'string' },
  },
  'hub.allowedOrigins': {
    ...OWN_MACHINE,
    markdownDescription:
      'Origins of web pages that may connect to the hub, for example `http://localhost:3000`. They need the access token too. Programs that send no origin are not affected.',
  },
  'handles.ownerTimeout': {
    scope: 'window',
    markdownDescription:
      'Seconds for which background commands keep running when their window is gone. After a reload or a crash the window reattaches to them; otherwise they are stopped with all their child processes.',
  },
  'hub.server': {
    ...OWN_MACHINE,
    markdownDescription:
      'Address of a NATS server with JetStream that joins the agents of several machines, for example `nats://nats.example.com:4222`, or `tls://…` for an encrypted connection. Needs `#earshot.hub.name#`. Empty: the agents of this machine only.',
  },
  'hub.name': {
    ...OWN_MACHINE,
    markdownDescription:
      'Name shared by all joined machines: the same on each of them, 1 to 32 characters of `a-z`, `0-9`, `_` and `-`. Without it `#earshot.hub.server#` is not used.',
  },
  'hub.machine': {
    ...OWN_MACHINE,
    markdownDescription:
      'Name of this machine among those joined by `#earshot.hub.server#`, 1 to 32 characters of `a-z`, `0-9`, `_` and `-`. Empty: its host name.',
  },
  'hub.credentials': {
    ...OWN_MACHINE,
    markdownDescription:
      'Path of the file with the credentials of this machine’s NATS user: a creds file or an NKEY seed, readable only by you (mode 0600).',
  },
};

const NAMES = Object.keys(CONTRIBUTIONS) as readonly SettingName[];

/** `contributes.configuration`: the sections of the Settings editor. */
export function contributedSettings(): readonly object[] {
  return SECTIONS.map((title, section) => ({
    title,
    order: section + 1,
    properties: Object.fromEntries(
      NAMES.filter((name) => sectionOf(name) === title).map((name, index) => {
        const { restricted: _restricted, schema, ...texts } = CONTRIBUTIONS[name];
        return [settingKey(name), { ...schemaOf(name), ...schema, order: index + 1, ...texts }];
      }),
    ),
  }));
}

/** `capabilities.untrustedWorkspaces.restrictedConfigurations`. */
export function restrictedSettings(): readonly string[] {
  return NAMES.filter((name) => CONTRIBUTIONS[name].restricted === true).map(settingKey);
}

function settingKey(name: SettingName): string {
  return `${SETTINGS_SECTION}.${name}`;
}
