// Shares one window between the test files of a worker: opening a window takes longer than most tests.
import { afterAll, afterEach, test as base, expect } from 'vitest';
import { needsPicture, pictureOf } from './pictures.ts';
import { Workbench } from './workbench.ts';

export interface SharedWorkbenchOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Errors that the file's tests provoke; any other error in the extension's log fails the file. */
  readonly expectedErrors?: RegExp;
  /** The file needs a window that no other file has used before. */
  readonly first?: true;
  /** The file's tests leave something behind that cannot be cleaned up, so the window is closed after them. */
  readonly last?: true;
}

const workbench = new Workbench();
let isOpen = false;

async function close(): Promise<void> {
  if (!isOpen) return;
  isOpen = false;
  await workbench.close();
}

/** If the window itself fails, it is closed: this file fails, and the next one opens another window. */
async function orClose(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    await close();
    throw error;
  }
}

/** The window is closed when the worker ends, because no file can tell whether it is the last one. */
const worker = base.extend('closing', { scope: 'worker' }, ({}, { onCleanup }) => onCleanup(close));

/**
 * The window for a file's tests, with the original sample, the file's settings and a new chat. If a test fails, a
 * picture is taken, the window is closed, and the next file opens another.
 */
export function useSharedWorkbench(
  options: SharedWorkbenchOptions | (() => Promise<SharedWorkbenchOptions>) = {},
): Workbench {
  let file: SharedWorkbenchOptions = {};
  let earlierErrors = 0;
  let hasFailed = false;
  worker.beforeAll(async ({ closing: _closing }) => {
    file = typeof options === 'function' ? await options() : options;
    hasFailed = false;
    if (file.first === true) await close();
    if (isOpen) await orClose(workbench.prepare(file.settings ?? {}));
    else {
      await workbench.open({ settings: file.settings ?? {}, modelProvider: true });
      isOpen = true;
    }
    earlierErrors = (await workbench.loggedErrors()).length;
  }, 180_000);
  afterEach(async ({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
    if (isOpen && needsPicture(task)) await workbench.screenshots(pictureOf(task));
  });
  afterAll(async () => {
    if (!isOpen) return;
    const isLast = hasFailed || file.last === true;
    if (!isLast) await orClose(workbench.leave());
    const errors = (await workbench.loggedErrors()).slice(earlierErrors);
    if (isLast) await close();
    expect(errors.filter((line) => file.expectedErrors?.test(line) !== true)).toEqual([]);
  }, 120_000);
  return workbench;
}
