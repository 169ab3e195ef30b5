// The agents that Earshot's hook can be installed for: their settings files, and the entries in them.
import { join } from 'node:path';

/** The names that users know. */
export const AGENT_NAMES = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  copilot: 'GitHub Copilot',
  cursor: 'Cursor',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
} as const;
export type HookedAgent = keyof typeof AGENT_NAMES;

export interface HookTarget {
  /** The name with which the hook attaches to the window. */
  readonly agent: HookedAgent;
  readonly scope: 'folder' | 'user';
  /** The settings file. */
  readonly file: string;
}

/** What the settings of an agent need for the hook. */
export interface HookEntries {
  /** By event, as the agent names it: the items of its list. */
  readonly events: Readonly<Record<string, readonly object[]>>;
  /** The format of the file that the agent demands. */
  readonly version?: number;
}

const PLUGIN = 'earshot-notifications.js';
/** By scope: the path in the folder, and in the user's home. */
const FILES: Readonly<Record<HookedAgent, { readonly folder?: readonly string[]; readonly user: readonly string[] }>> =
  {
    'claude-code': { folder: ['.claude', 'settings.local.json'], user: ['.claude', 'settings.json'] },
    copilot: { user: ['.copilot', 'hooks', 'earshot-notifications.json'] },
    codex: { folder: ['.codex', 'hooks.json'], user: ['.codex', 'hooks.json'] },
    cursor: { folder: ['.cursor', 'hooks.json'], user: ['.cursor', 'hooks.json'] },
    gemini: { folder: ['.gemini', 'settings.json'], user: ['.gemini', 'settings.json'] },
    opencode: { folder: ['.opencode', 'plugin', PLUGIN], user: ['.config', 'opencode', 'plugin', PLUGIN] },
  };

export function hookTargets(home: string, folder: string | undefined): readonly HookTarget[] {
  return (Object.keys(FILES) as HookedAgent[]).flatMap((agent): HookTarget[] => {
    const { folder: inFolder, user } = FILES[agent];
    return [
      ...(folder === undefined || inFolder === undefined
        ? []
        : [{ agent, scope: 'folder' as const, file: join(folder, ...inFolder) }]),
      { agent, scope: 'user', file: join(home, ...user) },
    ];
  });
}

const SECONDS = 5;
/** Claude ends the waiter of an idle session after this time. */
const WAITS_SECONDS = 86_400;
/** The tools of Claude Code that read or change files. */
const CLAUDE_FILES = 'Read|Edit|MultiEdit|Write|NotebookEdit|Bash';

/** `command`: the command line of the hook for this agent. Undefined: the agent has a plugin instead. */
export function hookEntries(agent: HookedAgent, command: string): HookEntries | undefined {
  const hook = { type: 'command', command, timeout: SECONDS };
  const group = { hooks: [hook] };
  const anyTool = { matcher: '*', hooks: [hook] };
  switch (agent) {
    case 'claude-code': {
      const waiter = {
        hooks: [{ ...hook, command: `${command} --wait`, timeout: WAITS_SECONDS, asyncRewake: true }],
      };
      const report = { matcher: CLAUDE_FILES, hooks: [{ ...hook, command: `${command} --report` }] };
      return {
        events: {
          // Reports each call right after it; notifications come once, after all calls of an answer.
          PostToolUse: [report],
          PostToolBatch: [group],
          UserPromptSubmit: [group],
          SessionStart: [group, waiter],
          Stop: [waiter],
        },
      };
    }
    case 'codex':
      return { events: { PostToolUse: [anyTool], UserPromptSubmit: [group], SessionStart: [group], Stop: [group] } };
    case 'copilot': {
      // VS Code reads the first fields, Copilot CLI the others.
      const both = { ...hook, bash: command, powershell: command, timeoutSec: SECONDS };
      return { version: 1, events: { PostToolUse: [both], SessionStart: [both], Stop: [both] } };
    }
    case 'cursor': {
      const plain = { command, timeout: SECONDS };
      return { version: 1, events: { postToolUse: [plain], sessionStart: [plain], stop: [plain] } };
    }
    case 'gemini': {
      const inMilliseconds = { ...hook, timeout: SECONDS * 1000 };
      const each = { hooks: [inMilliseconds] };
      const afterTool = { matcher: '*', hooks: [inMilliseconds] };
      return { events: { AfterTool: [afterTool], BeforeAgent: [each], SessionStart: [each], AfterAgent: [each] } };
    }
    case 'opencode':
      return undefined;
  }
}

const PLUGIN_MARK = '// Earshot’s notifications-hook for opencode';

export function isOwnPlugin(text: string): boolean {
  return text.startsWith(PLUGIN_MARK);
}

/** The plugin of opencode, which runs the hook as the settings of other agents do. */
export function opencodePlugin(command: string): string {
  return `${PLUGIN_MARK}. earshot-ears and VS Code write this file; changes are lost.
import { spawn } from 'node:child_process';

const command = ${JSON.stringify(command)};

function run(input) {
  return new Promise((done) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.on('error', () => done({}));
    child.on('close', () => {
      try {
        done(JSON.parse(output) ?? {});
      } catch {
        done({});
      }
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(input));
  });
}

export const EarshotNotifications = async ({ client, directory }) => {
  const call = (event, session, more = {}) =>
    run({ hook_event_name: event, session_id: session, cwd: directory, ...more });
  /** The sessions that this plugin has just continued. */
  const continued = new Set();
  return {
    'tool.execute.after': async ({ tool, sessionID, args }, output) => {
      const given = { tool_name: tool, tool_input: args ?? {}, tool_response: { output: output.output } };
      const answer = await call('PostToolUse', sessionID, given);
      const text = answer.hookSpecificOutput?.additionalContext;
      if (text) output.output = \`\${output.output ?? ''}\\n\\n\${text}\`;
    },
    'chat.message': async ({ sessionID }, output) => {
      if (continued.delete(sessionID)) return;
      const answer = await call('UserPromptSubmit', sessionID);
      const text = answer.hookSpecificOutput?.additionalContext;
      if (!text) return;
      const id = \`prt_\${Date.now().toString(16).padStart(12, '0')}\${Math.random().toString(36).slice(2, 12)}\`;
      output.parts.push({ id, sessionID, messageID: output.message.id, type: 'text', text, synthetic: true });
    },
    event: async ({ event }) => {
      if (event.type !== 'session.idle') return;
      const id = event.properties.sessionID;
      const { reason } = await call('Stop', id);
      if (!reason) return;
      continued.add(id);
      await client.session.prompt({ path: { id }, body: { parts: [{ type: 'text', text: reason, synthetic: true }] } });
    },
  };
};
`;
}
