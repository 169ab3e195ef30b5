// The environment of a VS Code server: ours without variables of npm, a test runner or another editor.
import { delimiter, dirname } from 'node:path';

const notForTheServer =
  /^(npm_|INIT_CWD$|NODE_OPTIONS$|NODE_ENV$|NODE_PATH$|VITEST|TEST$|VSCODE_|ELECTRON_|XDG_(CONFIG|CACHE|DATA|STATE)_HOME$)/i;

export interface ServerEnvironment {
  /** The home folder of programs inside the server. */
  readonly home: string;
  /** The folder for sockets. */
  readonly runtimeFolder: string;
  /** First on the PATH of terminals and tasks. */
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
