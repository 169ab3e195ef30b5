// What a recording of ordinary work is made of, in milliseconds since its beginning.
import { type FileTouch } from '../../src/core/sourcePorts.ts';
import { type Settled } from '../../src/producers/gitRepository.ts';

export type Recorded =
  | { readonly at: number; readonly type: 'step'; readonly label: string }
  /** A file on disk; without `text` nobody needs to know what is in it. */
  | {
      readonly at: number;
      readonly type: 'touch';
      readonly touch: FileTouch['type'];
      readonly path: string;
      readonly text?: string;
    }
  /** In the editor. */
  | { readonly at: number; readonly type: 'save'; readonly path: string }
  /** In a terminal. */
  | {
      readonly at: number;
      readonly type: 'command';
      readonly commandLine: string;
      readonly exitCode: number;
      readonly output: string;
    }
  /** `since`: how long it took. */
  | { readonly at: number; readonly type: 'git'; readonly settled: Settled };
