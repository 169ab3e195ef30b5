// Stores what lists show of a conversation in a file next to the log, so that they read no logs.
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import { defined } from '../base/json/defined.ts';
import { withChosen } from '../core/conversation/choices.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type ListedFacts } from '../core/ports/storage.ts';
import { listedChoiceSchema } from '../protocol/page/controlsView.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';

const titleSchema = z.strictObject({
  title: z.string(),
  subagent: z.strictObject({ parent: z.string(), name: z.string() }).optional(),
  forkedFrom: z.string().optional(),
  unreviewed: z.int().positive().optional(),
  choice: listedChoiceSchema.optional(),
});
type KeptTitle = ListedFacts & { readonly title: string };

export class TitleFile {
  readonly #files: FileSystem;
  readonly #folder: string;
  readonly #logger: Logger;
  #written: KeptTitle | undefined;
  readonly #writing = new Sequence();

  constructor(files: FileSystem, folder: string, logger: Logger) {
    this.#files = files;
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Returns at once. A title that cannot be written is only logged: it can be computed from the log. */
  set(title: string, facts?: ListedFacts): void {
    const report = (error: unknown) => this.#logger.warn(`a title could not be stored: ${describeError(error)}`);
    void this.#writing.run(() => this.#write(title, facts)).catch(report);
  }

  /** Resolves once the last title is written. */
  settled(): Promise<void> {
    return this.#writing.settled();
  }

  async #write(title: string, facts: ListedFacts | undefined): Promise<void> {
    this.#written ??= await readTitle(this.#files, this.#folder);
    // A new title alone changes nothing else.
    const kept = { title, ...listedFacts(facts ?? this.#written ?? {}) };
    if (JSON.stringify(this.#written) === JSON.stringify(kept)) return;
    await this.#files.writeWhole(titlePath(this.#folder), Buffer.from(JSON.stringify(kept)));
    this.#written = kept;
  }
}

/** Only what is worth listing, so that equal facts have equal texts. */
export function listedFacts({ subagent, forkedFrom, unreviewed = 0, choice }: ListedFacts): ListedFacts {
  const { model, mode, approvals } = choice ?? {};
  const chosen = withChosen({}, { model, mode, approvals });
  return {
    ...(subagent && { subagent: { parent: subagent.parent, name: subagent.name } }),
    ...defined({ forkedFrom }),
    ...(unreviewed > 0 && { unreviewed }),
    ...(Object.keys(chosen).length > 0 && { choice: chosen }),
  };
}

/** Undefined if it is missing or not valid. */
export async function readTitle(files: FileSystem, folder: string): Promise<KeptTitle | undefined> {
  const bytes = await files.read(titlePath(folder));
  if (bytes === undefined) return undefined;
  try {
    return titleSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

function titlePath(folder: string): string {
  return join(folder, 'title.json');
}
