// Finds the configuration of MCP servers: settings, the profile's mcp.json, and the files of the workspace.
import * as vscode from 'vscode';
import { ignore } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type FileSystem } from '../../node/files/fileSystem.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import {
  type ConfigSource,
  MOST_CONFIG_BYTES,
  mergeConfigurations,
  type ReadConfiguration,
  readConfigText,
  readConfigValue,
} from '../../mcp/config/configuration.ts';
import { userSetting, workspaceSetting } from '../configuration.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import { failureMessage } from '../failureMessage.ts';

/** The names that VS Code and other agents use. */
const WORKSPACE_FILES = ['.vscode/mcp.json', '.mcp.json'];

export interface ConfigurationFilesDeps {
  readonly workspace: Workspace;
  readonly files: FileSystem;
  /** The absolute path of mcp.json in the user's profile. */
  readonly profileFile: string;
}

/** The user's servers come first: a workspace cannot replace them. */
export async function readConfiguration(deps: ConfigurationFilesDeps): Promise<ReadConfiguration> {
  const user = ofSettings('user', {
    servers: userSetting(`${SETTINGS_SECTION}.mcp.servers`),
    inputs: userSetting(`${SETTINGS_SECTION}.mcp.inputs`),
  });
  const workspace = ofSettings('workspace', {
    servers: workspaceSetting(`${SETTINGS_SECTION}.mcp.servers`),
    inputs: workspaceSetting(`${SETTINGS_SECTION}.mcp.inputs`),
  });
  return mergeConfigurations([user, await readProfile(deps), workspace, ...(await readWorkspaceFiles(deps))]);
}

/** Calls `changed` when the configuration may have changed. */
export function onDidChangeConfiguration(changed: () => void): Disposable {
  const held = new DisposableStore();
  held.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SETTINGS_SECTION}.mcp`)) changed();
    }),
  );
  held.add(vscode.workspace.onDidChangeWorkspaceFolders(changed));
  for (const glob of WORKSPACE_FILES) {
    const watcher = held.add(vscode.workspace.createFileSystemWatcher(`**/${glob}`));
    for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete]) held.add(event(changed));
  }
  return held;
}

function ofSettings(scope: 'user' | 'workspace', values: { servers: unknown; inputs: unknown }): ReadConfiguration {
  if (values.servers === undefined) return { servers: [], problems: [] };
  const source: ConfigSource = {
    label: scope === 'user' ? 'the user settings' : 'the workspace settings',
    workspace: scope === 'workspace',
    folder: firstFolder(),
  };
  return readConfigValue(values, source);
}

async function readProfile({ files, profileFile }: ConfigurationFilesDeps): Promise<ReadConfiguration> {
  const bytes = await files.read(profileFile).catch(ignore);
  if (bytes === undefined || bytes.length > MOST_CONFIG_BYTES) return { servers: [], problems: [] };
  const source = { label: 'the profile’s mcp.json', workspace: false, folder: firstFolder() };
  return readConfigText(Buffer.from(bytes).toString('utf8'), source);
}

/** Reads through the door, which refuses links out of the workspace. The model does not see the files. */
async function readWorkspaceFiles({ workspace }: ConfigurationFilesDeps): Promise<ReadConfiguration[]> {
  const all: ReadConfiguration[] = [];
  for (const folder of workspace.folders) {
    for (const name of WORKSPACE_FILES) {
      const path = folder.path === '' ? name : `${folder.path}/${name}`;
      const file = await workspace.resolve(path);
      const content = file.ok ? await workspace.readLocally(file.value, { atMost: MOST_CONFIG_BYTES }) : file;
      const source = { label: path, workspace: true, folder: folder.absolute };
      if (content.ok) all.push(readConfigText(Buffer.from(content.value.bytes).toString('utf8'), source));
      else if (content.failure.code !== 'not_found')
        all.push({ servers: [], problems: [failureMessage(content.failure)] });
    }
  }
  return all;
}

function firstFolder(): string | undefined {
  const uri = vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri?.scheme === 'file' ? uri.fsPath : undefined;
}
