// Parses the input of a hook, in Claude's format or the variants of other agents: the session, the event and the files.
import { defined } from '../../base/json/defined.ts';
import { filesNamedIn } from '../../core/consent/commandLine.ts';
import { pathsInPatch } from '../../core/files/patchPaths.ts';
import { readPatchEdits, readToolEdit, type ToolEdit } from './toolEdit.ts';

/** A file that a tool of the agent has read or written. */
export interface ToolFile {
  /** The path as the agent wrote it. */
  readonly path: string;
  readonly edited: boolean;
  /** The first line that was requested; absent: 1. */
  readonly first?: number;
  /** The number of lines that were requested; absent: the agent's default. */
  readonly lines?: number;
  /** What the tool changed. */
  readonly edit?: ToolEdit;
  /** What a command that names the file has printed. Only the lines in it were read. */
  readonly printed?: string;
}

export interface HookInput {
  /** The name of the event, such as `PostToolUse`, as the agent wrote it but with a capital letter. */
  readonly event: string;
  /** The end of the turn was already prevented by a hook: it must not be prevented again. */
  readonly isContinued: boolean;
  /** Its fields are Cursor's, which also runs the hooks in Claude's settings. */
  readonly isCursor: boolean;
  readonly session: string;
  readonly folder: string;
  /** Whether the field names are in camel case, as VS Code's agents write them. */
  readonly isCamelCase: boolean;
  readonly files: readonly ToolFile[];
  /** A command that commits or pushes has ended. */
  readonly ranGit: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const EDITS = /edit|write|create|replace|insert|patch/i;
const READS = /read|view/i;
const COMMANDS = /bash|shell|exec|terminal|command/i;
/** Commands that make a commit or bring it to a forge. */
const FORGES = /\b(?:git|gh|glab|hub|jj)\b/;
const COMMITS = /\b(?:commit|push|merge|rebase|cherry-pick|revert|am|pull|describe|create)\b/;
const PARTS = /[;&|\n]/;
const PATH_FIELDS = ['file_path', 'filePath', 'absolute_path', 'notebook_path', 'path'] as const;
const MOST_FILES = 20;
const LONGEST_NAME = 500;
const LONGEST_COMMAND = 10_000;
const RESULTS = ['tool_response', 'tool_output'] as const;
const OUTPUT_FIELDS = ['stdout', 'output', 'textResultForLlm', 'llmContent'] as const;

/** Undefined: the text is not the input of a hook. */
export function readHookInput(text: string): HookInput | undefined {
  const input = parseFields(text);
  if (input === undefined) return undefined;
  const event = textIn(input, 'hook_event_name') ?? textIn(input, 'hookEventName');
  const isCursor = textIn(input, 'conversation_id') !== undefined && Array.isArray(input['workspace_roots']);
  const session = textIn(input, 'session_id') ?? textIn(input, 'sessionId') ?? textIn(input, 'conversation_id');
  const folder = textIn(input, 'cwd') ?? firstRoot(input);
  if (event === undefined || session === undefined || folder === undefined || session === '') return undefined;
  // A subagent has its own context, so it counts as its own session.
  const subagent = textIn(input, 'agent_id');
  return {
    event: `${event.charAt(0).toUpperCase()}${event.slice(1)}`,
    session: (subagent === undefined ? session : `${session}/${subagent}`).slice(0, LONGEST_NAME),
    folder,
    isCursor,
    isContinued: input['stop_hook_active'] === true || input['stopHookActive'] === true || loopsOf(input) > 0,
    isCamelCase: textIn(input, 'hook_event_name') === undefined,
    files: filesIn(input).slice(0, MOST_FILES),
    ranGit: ranGit(input),
  };
}

function firstRoot({ workspace_roots: roots }: Fields): string | undefined {
  const first: unknown = Array.isArray(roots) ? roots[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}

/** How often Cursor has continued by itself. */
function loopsOf({ loop_count: count }: Fields): number {
  return typeof count === 'number' ? count : 0;
}

/** The name of the tool and its arguments. */
function callIn(input: Fields): { readonly tool: string; readonly given: Fields | undefined } {
  const tool = textIn(input, 'tool_name') ?? textIn(input, 'toolName') ?? '';
  const given = fieldsIn(input, 'tool_input') ?? fieldsIn(input, 'toolArgs') ?? parsedIn(input, 'toolArgs');
  return { tool, given };
}

function ranGit(input: Fields): boolean {
  const { tool, given } = callIn(input);
  const isOver = resultIn(input) !== undefined || RESULTS.some((name) => textIn(input, name) !== undefined);
  const isCommand = given !== undefined && COMMANDS.test(tool) && isOver;
  const parts = isCommand ? commandIn(given).slice(0, LONGEST_COMMAND).split(PARTS) : [];
  return parts.some((part) => FORGES.test(part) && COMMITS.test(part));
}

function commandIn(given: Fields): string {
  const several: unknown = given['command'];
  const words = Array.isArray(several) ? several.filter((word) => typeof word === 'string').join(' ') : undefined;
  return words ?? textIn(given, 'command') ?? textIn(given, 'cmd') ?? '';
}

function filesIn(input: Fields): readonly ToolFile[] {
  const { tool, given } = callIn(input);
  const edited = EDITS.test(tool);
  if (given !== undefined && COMMANDS.test(tool) && !edited) return filesOfCommand(given, input);
  if (given === undefined || !(edited || READS.test(tool)) || tool.startsWith('mcp_')) return [];
  const patch = textIn(given, 'command') ?? textIn(given, 'input') ?? textIn(given, 'patch');
  if (/patch/i.test(tool) && patch !== undefined) {
    const edits = readPatchEdits(patch);
    return pathsInPatch(patch).map((path) => ({ path, edited, ...editOf(edits.get(path)) }));
  }
  const several: readonly unknown[] = Array.isArray(given['files']) ? given['files'] : [];
  const paths = [...PATH_FIELDS.flatMap((name) => textIn(given, name) ?? []).slice(0, 1), ...several];
  const first = numberIn(given, 'offset') ?? numberIn(given, 'startLine');
  const lines = numberIn(given, 'limit') ?? linesTo(numberIn(given, 'endLine'), first);
  const result = resultIn(input);
  const edit = edited && paths.length === 1 ? readToolEdit(given, result) : undefined;
  const shown = defined({ first, lines });
  return paths.flatMap((path) =>
    typeof path === 'string' && path !== '' ? { path, edited, ...shown, ...editOf(edit) } : [],
  );
}

/** Codex reads files only by commands, and other agents often do. */
function filesOfCommand(given: Fields, input: Fields): readonly ToolFile[] {
  const command = textIn(given, 'command') ?? textIn(given, 'cmd') ?? '';
  const result = resultIn(input) ?? {};
  const printed =
    RESULTS.map((name) => textIn(input, name)).find((text) => text !== undefined) ??
    OUTPUT_FIELDS.map((name) => textIn(result, name)).find((text) => text !== undefined);
  if (command.length > LONGEST_COMMAND || printed === undefined || printed.trim() === '') return [];
  return filesNamedIn(command).map((path) => ({ path, edited: false, printed }));
}

function resultIn(input: Fields): Fields | undefined {
  return fieldsIn(input, 'tool_response') ?? fieldsIn(input, 'toolResult') ?? fieldsIn(input, 'tool_output');
}

function editOf(edit: ToolEdit | undefined): Pick<ToolFile, 'edit'> {
  return edit === undefined ? {} : { edit };
}

function linesTo(last: number | undefined, first = 1): number | undefined {
  return last === undefined ? undefined : last - first + 1;
}

/** Copilot CLI passes the arguments as JSON in a text. */
function parsedIn(input: Fields, name: string): Fields | undefined {
  const text = textIn(input, name);
  return text === undefined ? undefined : parseFields(text);
}

function parseFields(text: string): Fields | undefined {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function fieldsIn(fields: Fields, name: string): Fields | undefined {
  return asFields(fields[name]);
}

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
}

function numberIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}
