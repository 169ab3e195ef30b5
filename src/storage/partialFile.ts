// Stores the shown part of an answer that is not in the log yet, in a file next to the log.
import { join } from 'node:path';
import * as z from 'zod';
import { Sequence } from '../base/async.ts';
import { describeError } from '../base/errors.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type PartialAnswer, type PartialAnswers } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';

const partSchema = z.strictObject({ id: z.string(), model: z.string(), text: z.string(), reasoning: z.string() });

export class PartialFile implements PartialAnswers {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #logger: Logger;
  /** The answer whose parts are in the file. */
  #id: string | undefined;
  readonly #writing = new Sequence();

  constructor(files: FileSystem, folder: string, logger: Logger) {
    this.#files = files;
    this.#path = join(folder, 'partial.jsonl');
    this.#logger = logger;
  }

  add(part: PartialAnswer): void {
    this.#after(() => this.#write(part));
  }

  drop(): void {
    this.#after(() => this.#files.remove(this.#path));
    this.#id = undefined;
  }

  async take(): Promise<PartialAnswer | undefined> {
    await this.#writing.settled();
    const bytes = await this.#files.read(this.#path);
    const parts = bytes === undefined ? [] : new TextDecoder().decode(bytes).split('\n').flatMap(readPart);
    const last = parts.at(-1);
    if (last === undefined) return undefined;
    const own = parts.filter(({ id }) => id === last.id);
    const whole = (field: 'text' | 'reasoning') => own.map((part) => part[field]).join('');
    return { ...last, text: whole('text'), reasoning: whole('reasoning') };
  }

  /** Resolves once everything is written. */
  settled(): Promise<void> {
    return this.#writing.settled();
  }

  /** A part that cannot be written is only logged: it is lost only if the editor is killed before the answer ends. */
  #after(work: () => Promise<void>): void {
    const report = (error: unknown) => this.#logger.warn(`a partial answer was not stored: ${describeError(error)}`);
    void this.#writing.run(work).catch(report);
  }

  async #write(part: PartialAnswer): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(part)}\n`);
    if (part.id !== this.#id) {
      await this.#files.writeWhole(this.#path, line);
      this.#id = part.id;
      return;
    }
    const file = await this.#files.openForAppend(this.#path);
    try {
      await file.append(line);
    } finally {
      await file.close();
    }
  }
}

/** Empty for a torn or damaged line. */
function readPart(line: string): PartialAnswer[] {
  try {
    return [partSchema.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
