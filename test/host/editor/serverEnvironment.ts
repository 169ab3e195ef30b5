// The environment of a VS Code server: that of this process without variables of npm, test runners and editors.
import { delimiter, dirname } from 'node:path';

const excludedVariables =
  /^(npm_|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|NODE_PATH$|VITEST|TEST$|VSCODE_|ELECTRON_|XDG_(CONFIG|CACHE|DATA|STATE)_HOME$)/i;

export interface ServerEnvironment {
  /** The home folder of programs inside the server. */
  readonly home: string;
  /** The folder for sockets. */
  readonly runtimeFolder: string;
  /** Its folder is the first one on the PATH of terminals and tasks. */
  readonly node: string;
}

export function serverEnvironment(
  inherited: NodeJS.ProcessEnv,
  { home, runtimeFolder, node }: ServerEnvironment,
  extra: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  const kept = Object.entries(inherited).filter(([name]) => !excludedVariables.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    EARSHOT_HOME: home,
    XDG_RUNTIME_DIR: runtimeFolder,
    PATH: [dirname(node), ...(inherited['PATH'] ?? '').split(delimiter)].join(delimiter),
    ...extra,
  };
}
