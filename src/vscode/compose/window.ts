// The window that the extension runs in, as passed to every composing function.
import type * as vscode from 'vscode';
import { type DisposableStore } from '../../base/disposable.ts';
import { type Output } from '../output.ts';
import { type SettingsReader } from '../settings.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';

/** Earshot's version. */
export function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version?: unknown };
  return typeof version === 'string' ? version : '';
}

export interface Window {
  readonly context: vscode.ExtensionContext;
  readonly logger: Output;
  readonly settings: SettingsReader;
  /** Questions whether programs and agents may do something, and offers. */
  readonly waiting: WaitingApprovals;
  /** Disposed with the window. */
  readonly held: DisposableStore;
  /** Logs the failure of a promise that nobody awaits. */
  report(what: string): (error: unknown) => void;
}
