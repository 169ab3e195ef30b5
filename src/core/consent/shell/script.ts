// The parsed form of a command line: simple commands in their order in the text, with words split into parts.

export type Part =
  | { readonly type: 'text'; readonly text: string; readonly quoted: boolean }
  /** The unmodified value of a variable: `$x`, `${x}`. */
  | { readonly type: 'variable'; readonly name: string; readonly quoted: boolean }
  /** Known only when the script runs; `source` is its text. `number`: its value is certainly a number. */
  | { readonly type: 'unknown'; readonly source: string; readonly number?: true };

export type Word = readonly Part[];

export interface Assignment {
  readonly name: string;
  /** Several for the variable of a loop, which gets one word after the other. */
  readonly values: readonly Word[];
  /** It happens in this shell, whatever earlier commands do. */
  readonly unconditional: boolean;
}

export interface SimpleCommand {
  readonly assignments: readonly Assignment[];
  readonly words: readonly Word[];
  /** Files that the shell itself opens. */
  readonly redirects: readonly Word[];
  /** Bodies of here-documents and here-strings. */
  readonly documents: readonly Word[];
  /** Variables of the loops around it. */
  readonly loops: readonly string[];
  /** Nothing else reads its output: there is no pipe and no substitution. */
  readonly alone: boolean;
}

export type Script =
  | { readonly understood: true; readonly commands: readonly SimpleCommand[] }
  | { readonly understood: false; readonly reason: string };

export type PosixShell = 'sh' | 'bash' | 'zsh';

export type ShellSyntax = PosixShell | 'fish' | 'powershell' | 'cmd' | 'unknown';

export function isPosix(syntax: ShellSyntax): syntax is PosixShell {
  return syntax === 'sh' || syntax === 'bash' || syntax === 'zsh';
}

const BY_NAME = new Map<string, ShellSyntax>([
  ['sh', 'sh'],
  ['dash', 'sh'],
  ['ash', 'sh'],
  ['bash', 'bash'],
  ['rbash', 'bash'],
  ['zsh', 'zsh'],
  ['fish', 'fish'],
  ['pwsh', 'powershell'],
  ['pwsh-preview', 'powershell'],
  ['powershell', 'powershell'],
  ['cmd', 'cmd'],
]);

/** The syntax of the program that runs command lines, by its name. */
export function shellSyntaxOf(path: string): ShellSyntax {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase();
  return BY_NAME.get(name.endsWith('.exe') ? name.slice(0, -4) : name) ?? 'unknown';
}
