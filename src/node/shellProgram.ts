// Decides how a shell is asked to run one command line, and which of the editor's own variables a command must not see.
import { type ShellProgram } from './processTree.ts';

/** These are the editor's, not the user's: a program that finds them takes itself for a part of the editor. */
const EDITORS_OWN = /^(?:ELECTRON_.+|VSCODE_(?!(?:PORTABLE|SHELL_LOGIN)$).+|EARSHOT_NODE_OPTIONS)$/;

export function shellProgram(path: string): ShellProgram {
  const name = path
    .slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '');
  if (name === 'pwsh' || name === 'powershell') return { path, args: ['-NoProfile', '-NonInteractive', '-Command'] };
  if (name === 'cmd') return { path, args: ['/d', '/s', '/c'] };
  // A login that runs nothing is no shell.
  if (name === '' || name === 'nologin' || name === 'false') return { path: '/bin/sh', args: ['-c'] };
  return { path, args: ['-c'] };
}

/** `settings` as `terminal.integrated.env.*` has them: null takes a variable away. */
export function userEnvironment(
  env: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string | null>> = {},
): NodeJS.ProcessEnv {
  const kept = Object.entries({ ...env, ...settings }).filter(
    ([name, value]) => value !== null && !EDITORS_OWN.test(name),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? undefined]));
}
