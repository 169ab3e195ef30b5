// Reports at delivery points which packages of lock files have changed since the conversation was last notified. Files
// are read again only after the editor saw them change.
import { Sequence } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { printPath } from '../../base/printPath.ts';
import { decodeText } from '../../base/text.ts';
import { type Clock, type Producer } from '../../core/ports/ports.ts';
import { type DeliveryPoint, type LiveConversations, type Sample } from '../../core/ports/producers.ts';
import { type EditorFiles } from '../../core/ports/sources.ts';
import { type FilePath, type Workspace } from '../../core/ports/workspace.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { comparePackages, LOCK_FILES, type PackageChange, type Packages, readLockFile } from './lockFiles.ts';

const KIND = { source: 'dependencies', name: 'changed' } as const;
const MOST_SHOWN = 12;
const LARGEST_FILE = 16 * 1024 * 1024;
const NPM = 'package-lock.json';
/** What npm has installed. */
const INSTALLED = 'node_modules/.package-lock.json';

export interface DependenciesDeps {
  readonly editorFiles: EditorFiles;
  readonly workspace: Pick<Workspace, 'folders' | 'resolve' | 'read'>;
  readonly clock: Clock;
}

type LockFiles = ReadonlyMap<string, Packages>;

export function createDependenciesProducer(deps: DependenciesDeps): Producer {
  let watch: DependenciesWatch | undefined;
  return {
    name: 'dependencies',
    start: (_publisher, _seen, { live }) => {
      const started = new DependenciesWatch(deps, live);
      watch = started;
      return {
        dispose: () => {
          started.dispose();
          if (watch === started) watch = undefined;
        },
      };
    },
    sample: async (point) => (await watch?.sample(point)) ?? [],
  };
}

class DependenciesWatch implements Disposable {
  readonly #deps: DependenciesDeps;
  readonly #live: LiveConversations;
  readonly #listening: Disposable;
  readonly #reading = new Sequence();
  /** Undefined until the first delivery point. */
  #now: Map<string, Packages> | undefined;
  readonly #touched = new Set<string>();
  #touchedAt = 0;
  /** What each conversation knows. */
  readonly #known = new Map<string, LockFiles>();

  constructor(deps: DependenciesDeps, live: LiveConversations) {
    this.#deps = deps;
    this.#live = live;
    this.#listening = deps.editorFiles.onDidTouch(({ path }) => {
      if (!this.#paths().includes(path)) return;
      this.#touched.add(path);
      this.#touchedAt = deps.clock.now();
    });
  }

  dispose(): void {
    this.#listening.dispose();
  }

  async sample({ conversation }: DeliveryPoint): Promise<readonly Sample[]> {
    const now = await this.#reading.run(() => this.#read());
    const before = this.#known.get(conversation);
    this.#known.set(conversation, now);
    if (before === undefined || before === now || this.#isOwn(conversation)) return [];
    const samples: Sample[] = [];
    for (const [path, packages] of now) {
      const changes = comparePackages(before.get(path) ?? new Map(), packages);
      if (!before.has(path) || changes.length === 0) continue;
      const { level, origin } = KINDS['dependencies.changed'];
      const message = describeChanges(path, changes, await this.#missing(path, changes));
      samples.push({ kind: KIND, subject: `dependencies:${path}`, draft: { level, origin, message } });
    }
    return samples;
  }

  #paths(): readonly string[] {
    return this.#deps.workspace.folders.flatMap(({ path }) =>
      LOCK_FILES.map((name) => (path === '' ? name : `${path}/${name}`)),
    );
  }

  /** A command of the conversation changed them, and its result said so. */
  #isOwn(conversation: string): boolean {
    return this.#live
      .callsSince(this.#touchedAt)
      .some((call) => call.conversation === conversation && call.command !== undefined);
  }

  async #read(): Promise<LockFiles> {
    const paths = this.#now === undefined ? this.#paths() : [...this.#touched];
    this.#touched.clear();
    if (this.#now !== undefined && paths.length === 0) return this.#now;
    const now = new Map(this.#now);
    for (const path of paths) {
      const packages = await this.#readFile(path);
      if (packages !== undefined) now.set(path, packages);
      // Half-written, or gone for a moment: what is known stays, and it is looked at again.
      else if (now.has(path)) this.#touched.add(path);
    }
    this.#now = now;
    return now;
  }

  /** Undefined: it cannot be read, or has no packages, as while it is being written. */
  async #readFile(path: string, as = path.slice(path.lastIndexOf('/') + 1)): Promise<Packages | undefined> {
    const file = await this.#deps.workspace.resolve(path);
    const read = file.ok
      ? await this.#deps.workspace.read(file.value satisfies FilePath, { atMost: LARGEST_FILE })
      : file;
    const text = read.ok ? decodeText(read.value.bytes) : undefined;
    const packages = text === undefined ? undefined : readLockFile(as, text);
    return packages === undefined || packages.size === 0 ? undefined : packages;
  }

  /** Of the changed packages: those that npm has not installed in this version. */
  async #missing(path: string, changes: readonly PackageChange[]): Promise<readonly string[]> {
    if (!path.endsWith(NPM)) return [];
    const installed = await this.#readFile(`${path.slice(0, -NPM.length)}${INSTALLED}`, NPM);
    return changes.flatMap(({ name, now }) => (now === undefined || installed?.get(name) === now ? [] : [name]));
  }
}

function describeChanges(path: string, changes: readonly PackageChange[], missing: readonly string[]): string {
  const shown = changes.slice(0, MOST_SHOWN).map(printChange).join(', ');
  const more = changes.length > MOST_SHOWN ? ` and ${changes.length - MOST_SHOWN} more` : '';
  const notInstalled = missing.length === 0 ? '' : ` Not installed yet: ${missing.length} of them.`;
  return `Dependencies changed in ${printPath(path)}: ${shown}${more}.${notInstalled}`;
}

function printChange({ name, before, now }: PackageChange): string {
  if (now === undefined) return `${printPath(name)} removed`;
  const version = before === undefined ? `${printPath(now)} added` : `${printPath(before)} → ${printPath(now)}`;
  return `${printPath(name)} ${version}`;
}
