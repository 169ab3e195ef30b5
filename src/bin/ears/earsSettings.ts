// The user's settings for `earshot-ears`: read from their file, and again when it has changed.
import { unwatchFile, watchFile } from 'node:fs';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeError } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { readSettings, type Settings } from '../../protocol/settings.ts';
import { readSettingsFile } from '../headless/settingsFile.ts';

/** Its time of change is compared this often, which works on every disk. */
const LOOK_EVERY = 2000;

export class EarsSettings implements Disposable {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #onDidChange: Emitter<void>;
  #current: Settings = readSettings(() => undefined).settings;
  #problem: string | undefined;

  constructor(path: string, logger: Logger) {
    this.#path = path;
    this.#logger = logger;
    this.#onDidChange = new Emitter((error) => logger.error('changed settings could not be used', error));
  }

  get current(): Settings {
    return this.#current;
  }

  /** What is wrong with them, for the user. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  async start(): Promise<void> {
    await this.#read();
    watchFile(this.#path, { interval: LOOK_EVERY, persistent: false }, this.#changed);
  }

  dispose(): void {
    unwatchFile(this.#path, this.#changed);
    this.#onDidChange.dispose();
  }

  readonly #changed = () => {
    void this.#read()
      .then(() => this.#onDidChange.fire())
      .catch((error: unknown) => this.#logger.error('the settings could not be read', error));
  };

  /** Of a file that cannot be read, for example while it is written, the last settings stay. */
  async #read(): Promise<void> {
    let given: Record<string, unknown> = {};
    try {
      given = await readSettingsFile(this.#path, 'settings');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.#complain([describeError(error)]);
        return;
      }
    }
    const { settings, problems } = readSettings((name) => given[name]);
    this.#current = settings;
    this.#complain(problems.map(({ name, message }) => `earshot.${name}: ${message}`));
  }

  #complain(problems: readonly string[]): void {
    for (const problem of problems) this.#logger.warn(problem);
    this.#problem = problems.length === 0 ? undefined : `${this.#path}: ${problems.join(' ')}`;
  }
}
