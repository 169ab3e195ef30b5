// Records the hour inside the extension host of a real VS Code: a simulated person works, and a recorder records.
import { hostname } from 'node:os';
import * as vscode from 'vscode';
import { workAnHour } from './hour.ts';
import { Person } from './person.ts';
import { Recorder } from './recorder.ts';
import { colleaguePushes } from './shop.ts';

/** The options that record.ts passes. */
export interface RecordingOptions {
  readonly file: string;
  readonly faster: number;
  readonly colleague: string;
  readonly masks: readonly (readonly [string, string])[];
  readonly start: Readonly<Record<string, string>>;
}

/** Called by VS Code. */
export async function run(): Promise<void> {
  const options = JSON.parse(process.env['EARSHOT_RECORDING'] ?? '') as RecordingOptions;
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Error('no folder is open');
  const errors: unknown[] = [];
  const report = (error: unknown) => void errors.push(error);
  const masks = [...options.masks, [hostname(), 'machine']] as const;
  const recorder = await Recorder.begin({ ...options, masks, folder: folder.uri.fsPath, report });
  const person = new Person({ folder: folder.uri, faster: options.faster });
  const hour = {
    person,
    step: (label: string) => recorder.step(label),
    colleaguePushes: () => colleaguePushes(options.colleague),
  };
  await workAnHour(hour);
  recorder.dispose();
  if (errors.length > 0) throw new AggregateError(errors, 'the recording failed');
}
