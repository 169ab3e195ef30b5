// Reads the settings through their schemas, and reports changes.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { readSettings, type SettingName, type SettingProblem, type Settings } from '../protocol/settings.ts';
import { SETTINGS_SECTION } from './ids.ts';

export class SettingsReader implements Disposable {
  readonly #onDidChange = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable;
  #settings: Settings;
  #problems: readonly SettingProblem[];

  constructor() {
    ({ settings: this.#settings, problems: this.#problems } = read());
    this.#listening = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(SETTINGS_SECTION)) return;
      ({ settings: this.#settings, problems: this.#problems } = read());
      this.#onDidChange.fire();
    });
  }

  readonly onDidChange = this.#onDidChange.event;

  get current(): Settings {
    return this.#settings;
  }

  /** Invalid values; their defaults are used. */
  get problems(): readonly SettingProblem[] {
    return this.#problems;
  }

  dispose(): void {
    this.#listening.dispose();
    this.#onDidChange.dispose();
  }
}

function read() {
  const configuration = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  return readSettings((name) => configuration.get(name));
}

/**
 * Writes to the workspace settings if they contain the setting, otherwise to the user settings; undefined removes it.
 */
export async function updateSetting<N extends SettingName>(name: N, value: Settings[N] | undefined): Promise<void> {
  const configuration = vscode.workspace.getConfiguration(SETTINGS_SECTION);
  const { workspaceValue } = configuration.inspect(name) ?? {};
  const { Global, Workspace } = vscode.ConfigurationTarget;
  await configuration.update(name, value, workspaceValue === undefined ? Global : Workspace);
}
