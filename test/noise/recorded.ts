// The format of a recording: the facts that the editor's sources reported, with times in milliseconds since its start.
import { type Problem, type ProblemsChange } from '../../src/core/ports/problems.ts';
import { type EndedCommand, type FileTouch, type Renamed } from '../../src/core/ports/sources.ts';
import { type TaskEnd } from '../../src/core/ports/tasks.ts';
import { type Passed } from '../../src/producers/git/gitGate.ts';
import { type Settled } from '../../src/producers/git/gitRepository.ts';

/** Files that the conversation has read when the hour begins. The recorder keeps them open, as Earshot would. */
export const READ = [
  'src/orders.ts',
  'src/menu.ts',
  'src/prices.ts',
  'src/receipt.ts',
  'test/orders.test.js',
  'package.json',
  'README.md',
];

/** Start, number of removed characters, inserted text. */
export type TextEdit = readonly [number, number, string];

export type Fact =
  /** The next step of the simulated person. */
  | { readonly type: 'step'; readonly label: string }
  /**
   * An event of the editor's watcher or of chokidar. `text` is the file's content on disk at that time; null if there
   * is no file; absent if the content is as before or not needed.
   */
  | {
      readonly type: 'touch';
      readonly by: 'editor' | 'chokidar';
      readonly touch: FileTouch['type'];
      readonly path: string;
      readonly text?: string | null;
    }
  /**
   * A change in the editor. `edit` is relative to the buffer's previous text or the file; absent if nothing is unsaved.
   */
  | { readonly type: 'buffer'; readonly path: string; readonly edit?: TextEdit }
  | { readonly type: 'save'; readonly path: string; readonly text?: string | null }
  | { readonly type: 'rename'; readonly renamed: readonly Renamed[] }
  | { readonly type: 'command'; readonly command: EndedCommand }
  | { readonly type: 'task'; readonly end: TaskEnd }
  | { readonly type: 'problems'; readonly change: ProblemsChange['type']; readonly files: readonly ProblemsOf[] }
  /** A git operation begins in the repository; `git_free` is its end. */
  | { readonly type: 'git_busy' }
  | { readonly type: 'git_free'; readonly passed: Passed }
  | { readonly type: 'git'; readonly settled: Settled };

/** Absent fields are as before; at first, no file is open or has problems. */
export interface ProblemsOf {
  readonly path: string;
  readonly open?: boolean;
  readonly problems?: readonly Problem[];
}

export type Recorded = { readonly at: number } & Fact;

export function editBetween(before: string, after: string): TextEdit {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [start, before.length - start - end, after.slice(start, after.length - end)];
}

export function applyEdit(text: string, [start, removed, inserted]: TextEdit): string {
  return text.slice(0, start) + inserted + text.slice(start + removed);
}
