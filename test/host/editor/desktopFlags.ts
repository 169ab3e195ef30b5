// Reads the command line of a desktop VS Code; flags that have no meaning in a browser are ignored.
import { resolve } from 'node:path';
import { UserError } from '../console/errors.mjs';

export interface DesktopFlags {
  readonly folder: string | undefined;
  readonly extension: string;
  readonly tests: string;
  readonly userDataDir: string | undefined;
  readonly extensionsDir: string | undefined;
  readonly disableWorkspaceTrust: boolean;
}

export function readDesktopFlags(args: readonly string[]): DesktopFlags {
  const path = (name: string): string | undefined => {
    const found = args.findLast((arg) => arg.startsWith(`--${name}=`));
    return found === undefined ? undefined : resolve(found.slice(name.length + 3));
  };
  const required = (name: string): string => {
    const value = path(name);
    if (value === undefined)
      throw new UserError(`--${name}=PATH is missing.`, 'Pass it, as runTests of @vscode/test-electron does.');
    return value;
  };
  const folder = args.find((arg) => !arg.startsWith('-'));
  return {
    folder: folder === undefined ? undefined : resolve(folder),
    extension: required('extensionDevelopmentPath'),
    tests: required('extensionTestsPath'),
    userDataDir: path('user-data-dir'),
    extensionsDir: path('extensions-dir'),
    disableWorkspaceTrust: args.includes('--disable-workspace-trust'),
  };
}
