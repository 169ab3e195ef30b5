// The Program Plugins view: a tree whose rows are loaded when it is first shown.
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { anySetting, userSetting } from '../configuration.ts';
import { HAS_PLUGINS, SETTINGS_SECTION } from '../ids.ts';

export interface PluginRows {
  readonly onDidChange: vscode.Event<void>;
  rows(): Promise<readonly vscode.TreeItem[]>;
  /** Whether there are rows besides the configured programs. */
  readonly hasAttached: boolean;
}

export class PluginsTree implements vscode.TreeDataProvider<vscode.TreeItem>, Disposable {
  readonly #load: () => Promise<PluginRows | undefined>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #listening: vscode.Disposable;
  #rows: PluginRows | undefined;
  #followed: vscode.Disposable | undefined;

  constructor(load: () => Promise<PluginRows | undefined>) {
    this.#load = load;
    this.#listening = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SETTINGS_SECTION}.plugins`)) this.refresh();
    });
    this.refresh();
  }

  readonly onDidChangeTreeData = this.#changed.event;

  /** Updates the rows, and hides the view while there are none. */
  refresh(): void {
    const shown = programNames().length > 0 || this.#rows?.hasAttached === true;
    void vscode.commands.executeCommand('setContext', HAS_PLUGINS, shown);
    this.#changed.fire();
  }

  /** Call when the plugins are loaded: from then on their changes are shown. */
  follow(rows: PluginRows): void {
    this.#rows = rows;
    this.#followed?.dispose();
    this.#followed = rows.onDidChange(() => this.refresh());
    this.refresh();
  }

  getTreeItem(item: vscode.TreeItem): vscode.TreeItem {
    return item;
  }

  async getChildren(): Promise<vscode.TreeItem[]> {
    return [...((await (await this.#load())?.rows()) ?? [])];
  }

  dispose(): void {
    this.#followed?.dispose();
    this.#listening.dispose();
    this.#changed.dispose();
  }
}

function programNames(): readonly string[] {
  const programs = anySetting(`${SETTINGS_SECTION}.plugins.programs`);
  return typeof programs === 'object' && programs !== null ? Object.keys(programs) : [];
}

/** Whether a program of the user's settings starts with each window. */
export function startsWithWindow(): boolean {
  return Object.values(userSetting(`${SETTINGS_SECTION}.plugins.programs`) ?? {}).some(
    (program: unknown) =>
      typeof program === 'object' && program !== null && 'start' in program && program.start === 'window',
  );
}
