// Reads the settings through their schemas and rules, and reports changes.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import {
  contains,
  readScopedSettings,
  type ScopedSettings,
  SETTING_RULES,
  type SettingLimits,
  type SettingValues,
} from '../protocol/settingRules.ts';
import { type SettingName, type SettingProblem, type Settings, settingSchemas } from '../protocol/settings.ts';
import { userSetting, workspaceSetting } from './configuration.ts';
import { SETTINGS_SECTION } from './ids.ts';
import { TERMINAL_SECTION, workspaceTerminal } from './tasks/shell.ts';

interface ReadSettings extends ScopedSettings {
  readonly workspaceModel: string | undefined;
}

export class SettingsReader implements Disposable {
  readonly #onDidChange = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable;
  #read: ReadSettings;

  constructor() {
    this.#read = readAll();
    this.#listening = vscode.workspace.onDidChangeConfiguration((event) => {
      if (![SETTINGS_SECTION, TERMINAL_SECTION].some((section) => event.affectsConfiguration(section))) return;
      this.#read = readAll();
      this.#onDidChange.fire();
    });
  }

  readonly onDidChange = this.#onDidChange.event;

  get current(): Settings {
    return this.#read.settings;
  }

  /** Invalid values; they count as not set. */
  get problems(): readonly SettingProblem[] {
    return this.#read.problems;
  }

  /** Names of settings of the workspace that do not hold, since they would allow more than the user's. */
  get ignored(): readonly string[] {
    return this.#read.ignored;
  }

  /** What the workspace allows at most. */
  get limits(): SettingLimits {
    return this.#read.limits;
  }

  /** The model, if the workspace has chosen another one than the user. */
  get workspaceModel(): string | undefined {
    return this.#read.workspaceModel;
  }

  dispose(): void {
    this.#listening.dispose();
    this.#onDidChange.dispose();
  }
}

/** Called only when the configuration has changed: the chat asks for the result many times a second. */
function readAll(): ReadSettings {
  const read = readScopedSettings(valuesOf);
  const { model } = read.settings;
  const chosen = workspaceSetting(`${SETTINGS_SECTION}.model`) === model;
  return {
    ...read,
    ignored: [...read.ignored, ...Object.keys(workspaceTerminal())],
    workspaceModel: chosen && model !== userSetting(`${SETTINGS_SECTION}.model`) ? model : undefined,
  };
}

function valuesOf(name: SettingName): SettingValues {
  const key = `${SETTINGS_SECTION}.${name}`;
  return { user: userSetting(key), workspace: workspaceSetting(key) };
}

/**
 * Writes to the workspace settings if they contain the setting and count for it, otherwise or if the value does not hold
 * there to the user settings; undefined removes it.
 */
export async function updateSetting<N extends SettingName>(name: N, value: Settings[N] | undefined): Promise<void> {
  const configuration = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  const { Global, Workspace } = vscode.ConfigurationTarget;
  if (SETTING_RULES[name].by !== 'user' && valuesOf(name).workspace !== undefined) {
    await configuration.update(name, value, Workspace);
    const wanted = value ?? settingSchemas[name].parse(undefined);
    const { settings } = readScopedSettings((one) => ({
      ...valuesOf(one),
      ...(one === name && { workspace: value }),
    }));
    if (contains(settings[name], wanted) && contains(wanted, settings[name])) return;
  }
  await configuration.update(name, value, Global);
}
