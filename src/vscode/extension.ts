// Where VS Code enters: everything is composed at once and ended in order.
import type * as vscode from 'vscode';
import { setDisposableTracker } from '../base/disposable.ts';
import { type Earshot } from '../core/earshot.ts';
import { type Composed, compose } from './compose.ts';

/** `ExtensionMode.Test`, without loading anything for it. */
const TEST_MODE = 3;

/** What the suites inside the extension host may ask. */
export interface TestApi {
  readonly ready: Promise<void>;
  readonly earshot: Earshot;
  /** Disposables that are alive now. */
  alive(): number;
}

let composed: Composed | undefined;

export function activate(context: vscode.ExtensionContext): TestApi | undefined {
  const testing = (context.extensionMode as number) === TEST_MODE;
  const alive = new Set<object>();
  if (testing) {
    setDisposableTracker({
      created: (disposable) => alive.add(disposable),
      disposed: (disposable) => alive.delete(disposable),
    });
  }
  composed = compose(context);
  context.subscriptions.push(composed);
  return testing ? { ready: composed.ready, earshot: composed.earshot, alive: () => alive.size } : undefined;
}

export async function deactivate(): Promise<void> {
  await composed?.close();
  composed = undefined;
}
