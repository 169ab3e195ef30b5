// Decides what of our own environment a VS Code server may see: none of npm's, a test runner's or another editor's.
import { delimiter, dirname } from 'node:path';

const notForTheServer =
  /^(npm_|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|NODE_PATH$|VITEST|TEST$|VSCODE_|ELECTRON_|XDG_(CONFIG|CACHE|DATA|STATE)_HOME$)/i;

export interface ServerEnvironment {
  /** Everything of the user's that programs look for in the home folder is looked for here. */
  readonly home: string;
  /** Where sockets are put. */
  readonly runtimeFolder: string;
  /** Terminals and tasks find it first. */
  readonly node: string;
}

export function serverEnvironment(
  inherited: NodeJS.ProcessEnv,
  { home, runtimeFolder, node }: ServerEnvironment,
  extra: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !notForTheServer.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    XDG_RUNTIME_DIR: runtimeFolder,
    PATH: [dirname(node), ...(inherited['PATH'] ?? '').split(delimiter)].join(delimiter),
    ...extra,
  };
}
