// Records the hour inside the extension host of a real VS Code: a person works, a recorder listens.
import { hostname } from 'node:os';
import * as vscode from 'vscode';
import { workAnHour } from './hour.ts';
import { Person } from './person.ts';
import { Recorder } from './recorder.ts';
import { colleaguePushes } from './shop.ts';

/** What record.ts hands in. */
export interface RecordingOrder {
  readonly file: string;
  readonly faster: number;
  readonly colleague: string;
  readonly masks: readonly (readonly [string, string])[];
  readonly start: Readonly<Record<string, string>>;
}

/** Called by VS Code. */
export async function run(): Promise<void> {
  const order = JSON.parse(process.env['EARSHOT_RECORDING'] ?? '') as RecordingOrder;
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (folder === undefined) throw new Error('no folder is open');
  const errors: unknown[] = [];
  const report = (error: unknown) => void errors.push(error);
  const masks = [...order.masks, [hostname(), 'machine']] as const;
  const recorder = await Recorder.begin({ ...order, masks, folder: folder.uri.fsPath, report });
  const person = new Person({ folder: folder.uri, faster: order.faster });
  const hour = {
    person,
    step: (label: string) => recorder.step(label),
    colleaguePushes: () => colleaguePushes(order.colleague),
  };
  await workAnHour(hour);
  recorder.dispose();
  if (errors.length > 0) throw new AggregateError(errors, 'it could not be recorded');
}
