// Decides what the Guide understands of a request: which tools it will call, one after another.

export interface Step {
  readonly tool: 'read_file' | 'list_files' | 'run_command';
  readonly arguments: Readonly<Record<string, string>>;
  /** What it says before it does it. */
  readonly announcement: string;
}

const SEPARATOR = /\s*(?:\n|,?\s+(?:and\s+)?then\s+)\s*/i;

const RULES: readonly { readonly pattern: RegExp; step(match: RegExpMatchArray): Step }[] = [
  {
    pattern: /^(?:please\s+)?(?:read|open|show|look at|cat)\s+(?:the\s+file\s+|file\s+)?(.+)$/i,
    step: ([, path = '']) => ({
      tool: 'read_file',
      arguments: { path: unquote(path) },
      announcement: `I read \`${unquote(path)}\`.`,
    }),
  },
  {
    pattern:
      /^(?:please\s+)?(?:list|ls)(?:\s+(?:all\s+)?(?:the\s+|my\s+)?files)?(?:\s+(?:in|of|below|under)?\s*(.+))?$/i,
    step: ([, path]) => ({
      tool: 'list_files',
      arguments: path === undefined ? {} : { path: unquote(path) },
      announcement: path === undefined ? 'I list the files.' : `I list the files of \`${unquote(path)}\`.`,
    }),
  },
  {
    pattern: /^(?:please\s+)?(?:run|execute|\$)\s+(.+)$/is,
    step: ([, command = '']) => ({
      tool: 'run_command',
      arguments: { command: unquote(command) },
      announcement: `I would like to run \`${unquote(command)}\`.`,
    }),
  },
];

/** Empty if nothing of it is understood: half a request is not carried out. */
export function parseRequest(text: string): Step[] {
  const steps = text
    .split(SEPARATOR)
    .filter((part) => part.trim() !== '')
    .map(parseStep);
  return steps.every((step) => step !== undefined) ? steps : [];
}

function parseStep(text: string): Step | undefined {
  for (const { pattern, step } of RULES) {
    const match = text.trim().match(pattern);
    if (match !== null) return step(match);
  }
  return undefined;
}

/** `"a b"`, `'a b'` and `` `a b` `` mean a b; so does a sentence's full stop after a path. */
function unquote(text: string): string {
  const trimmed = text.trim();
  const quoted = trimmed.match(/^(["'`])(.+)\1\.?$/s);
  return quoted?.[2] ?? trimmed.replace(/(?<=[^.\s])\.$/, '');
}
