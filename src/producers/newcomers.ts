// Decides where a file that is gone may have gone to: to one that appeared at the same time with the same bytes.
import { type Clock } from '../core/ports.ts';
import { type Snapshots } from '../core/storagePorts.ts';
import { type Workspace } from '../core/workspacePorts.ts';

const KEPT_MILLISECONDS = 5000;
const MOST = 200;
/** Reading more to find one name is not worth it. */
const MOST_READ = 20;

export class Newcomers {
  readonly #deps: { readonly clock: Clock; readonly snapshots: Snapshots; readonly workspace: Workspace };
  readonly #appeared = new Map<string, number>();

  constructor(deps: { readonly clock: Clock; readonly snapshots: Snapshots; readonly workspace: Workspace }) {
    this.#deps = deps;
  }

  add(path: string): void {
    this.#appeared.delete(path);
    this.#appeared.set(path, this.#deps.clock.now());
    const [oldest] = this.#appeared.keys();
    if (this.#appeared.size > MOST && oldest !== undefined) this.#appeared.delete(oldest);
  }

  /** The path of a new file with these bytes. */
  async find(hash: string): Promise<string | undefined> {
    const { clock, snapshots, workspace } = this.#deps;
    const since = clock.now() - KEPT_MILLISECONDS;
    const recent = [...this.#appeared].filter(([, at]) => at >= since).map(([path]) => path);
    for (const path of recent.toReversed().slice(0, MOST_READ)) {
      const file = await workspace.resolve(path);
      const content = file.ok ? await workspace.read(file.value) : undefined;
      if (content?.ok === true && snapshots.hash(content.value.bytes) === hash) return path;
    }
    return undefined;
  }
}
