// Reads settings of the editor by their origin. A workspace's settings come with the repository, so what may choose a
// program, reach a secret or lift a limit is read with `userSetting`.
import * as vscode from 'vscode';

/** The user's value, else the default. An object has both. Never the workspace's. */
export function userSetting(name: string, scope?: vscode.ConfigurationScope): unknown {
  const { defaultValue, globalValue } = inspect(name, scope) ?? {};
  return isObject(defaultValue) && isObject(globalValue)
    ? { ...defaultValue, ...globalValue }
    : (globalValue ?? defaultValue);
}

/** The user's value as a text, as a variable of a program's configuration stands for it. */
export function userSettingText(name: string): string | undefined {
  const value = userSetting(name);
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

/** The value that the workspace or the folder sets; undefined if it sets none. */
export function workspaceSetting(name: string, scope?: vscode.ConfigurationScope): unknown {
  const { workspaceFolderValue, workspaceValue } = inspect(name, scope) ?? {};
  return workspaceFolderValue ?? workspaceValue;
}

/** The value that holds in the editor, whoever has set it. */
export function anySetting(name: string, scope?: vscode.ConfigurationScope): unknown {
  return vscode.workspace.getConfiguration(undefined, scope).get(name);
}

function inspect(name: string, scope?: vscode.ConfigurationScope) {
  return vscode.workspace.getConfiguration(undefined, scope).inspect<unknown>(name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
