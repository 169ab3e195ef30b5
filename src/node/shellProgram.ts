// Arguments for running one command line in a shell, and the environment of commands without the editor's variables
// and Earshot's keys.

export interface ShellProgram {
  readonly path: string;
  /** Arguments before the command line. */
  readonly args: readonly string[];
}

/** The editor's own variables. With them a program would behave as a part of the editor. */
const EDITORS_OWN = /^(?:ELECTRON_.+|VSCODE_(?!(?:PORTABLE|SHELL_LOGIN)$).+|EARSHOT_NODE_OPTIONS)$/;

/**
 * PowerShell ends with 0 or 1 otherwise. What a command says about its own end counts, else the exit code of the program
 * that failed. Windows PowerShell also takes a program for failed that only wrote to its redirected error output.
 */
const POWERSHELL_END = [
  'if ($?) { exit 0 }',
  `if ($null -ne $LASTEXITCODE -and ($LASTEXITCODE -ne 0 -or "$($Error[0].FullyQualifiedErrorId)" -like 'NativeCommandError*')) { exit $LASTEXITCODE }`,
  'exit 1',
].join('\n');

export function shellProgram(path: string): ShellProgram {
  const name = nameOf(path);
  if (isPowerShell(name)) return { path, args: ['-NoProfile', '-NonInteractive', '-Command'] };
  if (name === 'cmd') return { path, args: ['/d', '/s', '/c'] };
  // The input is a socket. Bash takes that for a remote login and reads ~/.bashrc, unless a shell started the editor.
  if (name === 'bash') return { path, args: ['--norc', '-c'] };
  // nologin and false are not shells.
  if (name === '' || name === 'nologin' || name === 'false') return { path: '/bin/sh', args: ['-c'] };
  return { path, args: ['-c'] };
}

/** `isVerbatim`: nothing may be quoted. */
export function commandArguments(
  { path, args }: ShellProgram,
  command: string,
): { args: string[]; isVerbatim: boolean } {
  const name = nameOf(path);
  if (isPowerShell(name)) return { args: [...args, `${command}\n${POWERSHELL_END}`], isVerbatim: false };
  // cmd.exe takes the rest of the line as it is, without its first and its last quote.
  if (name === 'cmd') return { args: [...args, `"${command}"`], isVerbatim: true };
  return { args: [...args, command], isVerbatim: false };
}

function isPowerShell(name: string): boolean {
  return name === 'pwsh' || name === 'powershell';
}

function nameOf(path: string): string {
  return path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
}

/** Without the keys of endpoints, which no program that Earshot starts may get (`models/providers.ts`). */
export function withoutKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^EARSHOT_API_KEY(?:_|$)/i.test(name)));
}

/** `settings` as in `terminal.integrated.env.*`: null removes a variable. */
export function userEnvironment(
  env: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string | null>> = {},
): NodeJS.ProcessEnv {
  const kept = Object.entries({ ...withoutKeys(env), ...settings }).filter(
    ([name, value]) => value !== null && !EDITORS_OWN.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? undefined]));
}
