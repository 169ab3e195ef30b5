// The started extension for suites inside the extension host, and their check for leaked disposables.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type TestApi } from '../../../src/vscode/extension.ts';
import { isFull } from '../runs.ts';

export async function startedExtension(): Promise<TestApi> {
  const extension = vscode.extensions.getExtension<TestApi | undefined>('earshot.earshot');
  assert.ok(extension, 'the extension is not installed');
  const api = await extension.activate();
  assert.ok(api, 'the extension exports no test API');
  await api.ready;
  return api;
}

/** Polls until the condition holds; fails with the last value after 60 s. */
export async function eventually<T>(read: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > end) assert.fail(`the condition never held; last value: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

let shown: Promise<unknown> | undefined;

/** Opens the chat view, whose own disposables must exist before anything is counted. */
async function showChat(api: TestApi): Promise<void> {
  const before = api.alive();
  await vscode.commands.executeCommand('earshot.openChat');
  // If the view was already open, no disposable is added: stop waiting after 5 s.
  const end = Date.now() + 5000;
  await eventually(
    () => api.alive(),
    (alive) => alive > before || Date.now() > end,
  );
}

/**
 * Fails a suite that leaves more disposables alive than it found. `npm test` checks once after all tests of the suite,
 * since a throttle stays alive for two seconds; `npm run test:full` checks after each test.
 */
export function checkLeaks(when: 'each' | 'once' = isFull ? 'each' : 'once'): void {
  let found = 0;
  const count = async () => {
    const api = await startedExtension();
    shown ??= showChat(api);
    await shown;
    found = api.alive();
  };
  const compare = async () => {
    const api = await startedExtension();
    await vscode.commands.executeCommand('earshot.newChat');
    await eventually(
      () => api.alive(),
      (alive) => alive <= found,
    );
  };
  if (when === 'each') {
    beforeEach(count);
    afterEach(compare);
  } else {
    before(count);
    after(compare);
  }
}
