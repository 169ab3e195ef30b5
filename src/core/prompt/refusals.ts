// Reports each instruction file that Earshot may not read once: in the output channel and, if there is one, the chat.
import { type Failure } from '../../base/errors.ts';
import { printPath } from '../../base/printPath.ts';
import { type Ports } from '../ports/ports.ts';

const MOST_KEPT = 1000;

export class Refusals {
  readonly #ports: Pick<Ports, 'logger' | 'notice'>;
  readonly #reported = new Set<string>();

  constructor(ports: Pick<Ports, 'logger' | 'notice'>) {
    this.#ports = ports;
  }

  /** `path`: an instruction file. Its text does not reach the model. */
  report(path: string, { code, message }: Failure): void {
    const key = JSON.stringify([path, code]);
    if (this.#reported.has(key)) return;
    if (this.#reported.size >= MOST_KEPT) this.#reported.clear();
    this.#reported.add(key);
    const text = `The instructions in ${printPath(path)} are not used: ${printPath(message)}`;
    this.#ports.logger.warn(text);
    this.#ports.notice?.(text);
  }
}
