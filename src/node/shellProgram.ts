// Arguments for running one command line in a shell, and the environment of commands without the editor's variables.
import { type ShellProgram } from './processTree.ts';

/** The editor's own variables. With them a program would behave as a part of the editor. */
const EDITORS_OWN = /^(?:ELECTRON_.+|VSCODE_(?!(?:PORTABLE|SHELL_LOGIN)$).+|EARSHOT_NODE_OPTIONS)$/;

export function shellProgram(path: string): ShellProgram {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (name === 'pwsh' || name === 'powershell') return { path, args: ['-NoProfile', '-NonInteractive', '-Command'] };
  if (name === 'cmd') return { path, args: ['/d', '/s', '/c'] };
  // The input is a socket. Bash takes that for a remote login and reads ~/.bashrc, unless a shell started the editor.
  if (name === 'bash') return { path, args: ['--norc', '-c'] };
  // nologin and false are not shells.
  if (name === '' || name === 'nologin' || name === 'false') return { path: '/bin/sh', args: ['-c'] };
  return { path, args: ['-c'] };
}

/** `settings` as in `terminal.integrated.env.*`: null removes a variable. */
export function userEnvironment(
  env: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string | null>> = {},
): NodeJS.ProcessEnv {
  const kept = Object.entries({ ...env, ...settings }).filter(
    ([name, value]) => value !== null && !EDITORS_OWN.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? undefined]));
}
