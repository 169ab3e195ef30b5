// Helpers for suites that edit: files in the sample's folder, editors with unsaved changes, and clean-up.
import * as assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { type FilePath, type Workspace } from '../../../src/core/ports/workspace.ts';
import { eventually } from './startedExtension.ts';

/** A different folder for each test, because the editor remembers a deleted file for a while. */
export let folder = 'editing/0';
let folders = 0;

function rootFolder(): string {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(root, 'a folder is open');
  return root;
}

/** A path below a folder that is removed after the test. */
export function onDisk(name: string): string {
  return join(rootFolder(), folder, name);
}

export async function put(name: string, content: string | Uint8Array): Promise<string> {
  await mkdir(dirname(onDisk(name)), { recursive: true });
  await writeFile(onDisk(name), content);
  return `${folder}/${name}`;
}

export async function diskText(name: string): Promise<string> {
  return readFile(onDisk(name), 'utf8');
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export async function resolved(workspace: Workspace, path: string): Promise<FilePath> {
  const file = await workspace.resolve(path);
  assert.ok(file.ok, `${path} resolves`);
  return file.value;
}

/** Opens the file in an editor and applies `edit` without saving. */
export async function typeInto(name: string, edit: (text: string) => string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(onDisk(name)));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
  const text = edit(document.getText());
  assert.ok(await editor.edit((builder) => builder.replace(whole, text)));
  assert.ok(document.isDirty);
  return document;
}

/** Discards unsaved changes. */
async function closeAll(): Promise<void> {
  const tabs = () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label));
  await eventually(
    async () => {
      if (tabs().length > 0) await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
      return tabs();
    },
    (open) => open.length === 0,
  );
}

export function cleanUpAfterEach(): void {
  beforeEach(() => {
    folders += 1;
    folder = `editing/${folders}`;
  });
  afterEach(async () => {
    await closeAll();
    await rm(join(rootFolder(), 'editing'), { recursive: true, force: true });
  });
}
