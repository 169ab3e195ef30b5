// What the suites inside the extension host share: the started extension, and a check that a suite leaves nothing behind.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { type TestApi } from '../../../src/vscode/extension.ts';

export async function startedExtension(): Promise<TestApi> {
  const extension = vscode.extensions.getExtension<TestApi | undefined>('earshot.earshot');
  assert.ok(extension, 'the extension is there');
  const api = await extension.activate();
  assert.ok(api, 'the extension says what tests may ask');
  await api.ready;
  return api;
}

/** Waits, looking again and again, until the condition holds; says what it last saw when it gives up. */
export async function eventually<T>(look: () => T | Promise<T>, holds: (value: T) => boolean): Promise<T> {
  const end = Date.now() + 30_000;
  for (;;) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > end) assert.fail(`it never held; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

let shown: Promise<unknown> | undefined;

/** *New Chat* reveals the chat view, which has disposables of its own: it is there before anything is counted. */
async function showChat(api: TestApi): Promise<void> {
  const before = api.alive();
  await vscode.commands.executeCommand('earshot.openChat');
  // It may have been there already: then nothing is added, and waiting longer would be for nothing.
  const end = Date.now() + 5000;
  await eventually(
    () => api.alive(),
    (alive) => alive > before || Date.now() > end,
  );
}

/**
 * Every suite fails if it leaves more disposables alive than it found. Looked for after each test, or once, after all of them: what calms
 * producers lives for two seconds, which only tests that cannot disturb each other need not wait for.
 */
export function checkLeaks(when: 'each' | 'once' = 'each'): void {
  let found = 0;
  const look = async () => {
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
    beforeEach(look);
    afterEach(compare);
  } else {
    before(look);
    after(compare);
  }
}
