// What a hook prints so that its agent gets the notifications: the events at which it can, in the form of each agent.
import { type HookInput } from './hookInput.ts';

/** VS Code's own agent and Copilot CLI. */
const COPILOT = 'copilot';
const CURSOR = 'cursor';

/** The events at which agents read additional context. */
const DELIVERING: ReadonlySet<string> = new Set([
  ...['PostToolUse', 'PostToolUseFailure', 'PostToolBatch', 'UserPromptSubmit', 'SessionStart'],
  // Gemini CLI
  ...['AfterTool', 'BeforeAgent'],
]);
/** The events at which agents ask whether their turn may end. */
const ENDING: ReadonlySet<string> = new Set(['Stop', 'AgentStop', 'AfterAgent']);
/** The events with which the user's message comes. */
const PROMPTED: ReadonlySet<string> = new Set([
  ...['UserPromptSubmit', 'UserPromptSubmitted', 'BeforeAgent', 'BeforeSubmitPrompt'],
]);
/** The event at which VS Code's agent does not read `additionalContext`. */
const IGNORED_BY_COPILOT = 'UserPromptSubmit';

/** What the event is for the notifications: `end` if they may continue the turn. */
export function momentOf({ event, isContinued }: HookInput, agent: string): 'deliver' | 'end' | 'other' {
  if (ENDING.has(event)) return isContinued ? 'other' : 'end';
  return DELIVERING.has(event) && !(agent === COPILOT && event === IGNORED_BY_COPILOT) ? 'deliver' : 'other';
}

export function isPrompted({ event }: HookInput): boolean {
  return PROMPTED.has(event);
}

/** The agent that runs the hook: others also run the hooks in Claude's settings. */
export function agentOf({ isCamelCase, isCursor }: HookInput, installed: string): string {
  if (isCursor) return CURSOR;
  return isCamelCase ? COPILOT : installed;
}

/** Adds the text to the context of the next request. */
export function printContext({ event }: HookInput, agent: string, text: string): string {
  if (agent === CURSOR) return JSON.stringify({ additional_context: text });
  // Copilot CLI reads the outer field, and everyone else the inner one.
  const outer = agent === COPILOT ? { additionalContext: text } : {};
  return JSON.stringify({ ...outer, hookSpecificOutput: { hookEventName: event, additionalContext: text } });
}

/** Continues the turn with the text. */
export function printContinuation({ event }: HookInput, agent: string, text: string): string {
  if (agent === CURSOR) return JSON.stringify({ followup_message: text });
  const block = { decision: 'block', reason: text };
  return JSON.stringify(
    agent === COPILOT ? { ...block, hookSpecificOutput: { hookEventName: event, ...block } } : block,
  );
}
