// Replaces `${…}` in the configuration of a server: folders, the environment, and inputs of the user.
import { homedir } from 'node:os';
import { sep } from 'node:path';
import { failed, FailureError } from '../../base/errors.ts';

export interface VariableDeps {
  /** An absolute path; undefined: no folder is open. */
  readonly folder: string | undefined;
  /** Folders by name, for `${workspaceFolder:name}`. */
  readonly folders: readonly { readonly name: string; readonly absolute: string }[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Undefined: the user gave no value. */
  input(id: string): Promise<string | undefined>;
  /** A setting of the editor as text; undefined: there is none. */
  setting(name: string): string | undefined;
}

/** Excludes braces inside a variable, so that matching takes linear time. */
const VARIABLE = /\$\{([^{}$]{1,300})\}/g;

/** Rejects with a FailureError that names the variable. Values are not searched for variables again. */
export async function replaceVariables(text: string, deps: VariableDeps): Promise<string> {
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(VARIABLE)) {
    pieces.push(text.slice(from, match.index), await valueOf(match[1] ?? '', deps));
    from = match.index + match[0].length;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

async function valueOf(variable: string, deps: VariableDeps): Promise<string> {
  const colon = variable.indexOf(':');
  const [name, argument] = colon === -1 ? [variable, ''] : [variable.slice(0, colon), variable.slice(colon + 1)];
  switch (name) {
    case 'userHome':
      return homedir();
    case 'pathSeparator':
    case '/':
      return sep;
    case 'cwd':
    case 'workspaceFolder':
    case 'workspaceRoot':
      return folderOf(argument, deps) ?? refuseVariable(variable, 'no such folder is open');
    case 'workspaceFolderBasename':
      return folderOf(argument, deps)?.split(/[\\/]/).at(-1) ?? refuseVariable(variable, 'no such folder is open');
    case 'env':
      // As in VS Code, a variable that is not set is empty.
      return deps.environment[argument] ?? '';
    case 'config':
      return deps.setting(argument) ?? refuseVariable(variable, 'there is no such setting');
    case 'input':
      return (await deps.input(argument)) ?? refuseVariable(variable, 'no value was given for this input');
    default:
      return environmentValue(variable, deps);
  }
}

/** Replaces `${NAME}` and `${NAME:-default}`, as `.mcp.json` files use them. */
function environmentValue(variable: string, { environment }: VariableDeps): string {
  const [, name = '', preset] = /^([A-Za-z_]\w{0,200})(?::-(.*))?$/s.exec(variable) ?? [];
  if (name === '') return refuseVariable(variable, 'this variable is not known');
  return environment[name] ?? preset ?? refuseVariable(variable, `the environment has no ${name}`);
}

function folderOf(name: string, { folder, folders }: VariableDeps): string | undefined {
  return name === '' ? folder : folders.find((one) => one.name === name)?.absolute;
}

function refuseVariable(variable: string, why: string): never {
  throw new FailureError(
    failed('setting', `\${${variable}} cannot be replaced: ${why}.`, 'Correct the configuration.').failure,
  );
}
