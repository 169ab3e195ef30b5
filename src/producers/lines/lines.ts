// Reports the lines that conversations wait for: in the output of their background commands, and in files that grow.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Handle } from '../../core/ports/handles.ts';
import { type LineWatch, type ProducerHost } from '../../core/ports/producers.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../../core/ports/ports.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { handleInScope, handleScope, nameInScope } from '../../protocol/scopes.ts';
import { WatchedPaths } from '../files/diskWatch.ts';
import { LineFollower, type LineSource } from './lineFollower.ts';
import { describeUnmatched } from './lineReports.ts';
import { ReportPace } from './reportPace.ts';
import { fileLines } from './tail.ts';

/** Files are looked at this often too: watching does not work everywhere. */
const LOOK_EVERY = 2000;

export interface LinesDeps {
  readonly handles: Handles;
  readonly workspace: Workspace;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Lines {
  readonly producer: Producer;
  /** Resolves once all lines of an ended handle were searched, to what its end should say about them. */
  ended(handle: Handle): Promise<string>;
}

export function createLines(deps: LinesDeps): Lines {
  let watch: LinesWatch | undefined;
  return {
    producer: {
      name: 'lines',
      start: (publisher, _seen, host) => {
        const started = new LinesWatch(deps, publisher, host);
        watch = started;
        return {
          dispose: () => {
            started.dispose();
            if (watch === started) watch = undefined;
          },
        };
      },
    },
    ended: async (handle) => (await watch?.ended(handle)) ?? '',
  };
}

class LinesWatch implements Disposable {
  readonly #deps: LinesDeps;
  readonly #publisher: Publisher;
  readonly #host: ProducerHost;
  readonly #held = new DisposableStore();
  readonly #pace: ReportPace;
  /** By conversation and target. */
  readonly #followers = new Map<string, { readonly id: string; readonly follower: LineFollower }>();
  #files: { readonly watched: WatchedPaths; readonly known: Set<string>; timer: Disposable } | undefined;

  constructor(deps: LinesDeps, publisher: Publisher, host: ProducerHost) {
    this.#deps = deps;
    this.#publisher = publisher;
    this.#host = host;
    this.#pace = new ReportPace(deps.clock);
    this.#held.add(host.live.onDidChange(() => this.#compare()));
    this.#held.add(deps.handles.onDidChange(({ type, handle }) => this.#handleChanged(type, handle)));
    this.#compare();
  }

  async ended({ conversation, name = '' }: Handle): Promise<string> {
    this.#compare();
    const watch = await this.#followers.get(keyOf(conversation, handleScope(name)))?.follower.finish();
    return watch === undefined ? '' : describeUnmatched(watch);
  }

  dispose(): void {
    this.#held.dispose();
    for (const { follower } of this.#followers.values()) follower.dispose();
    this.#followers.clear();
    this.#followFiles();
  }

  #handleChanged(type: 'output' | 'state', handle: Handle): void {
    const { conversation, name } = handle;
    if (name === undefined) return;
    if (type === 'state') this.#compare();
    const follower = this.#followers.get(keyOf(conversation, handleScope(name)))?.follower;
    if (!handle.hasEnded) follower?.poke();
    else if (follower !== undefined) void follower.finish().catch(this.#report);
  }

  /** Follows what the conversations wait for now. */
  #compare(): void {
    const { live } = this.#host;
    const wanted = new Map<string, { readonly conversation: string; readonly watch: LineWatch }>();
    for (const conversation of live.ids()) {
      for (const watch of live.lines(conversation).values()) {
        wanted.set(keyOf(conversation, watch.target), { conversation, watch });
      }
    }
    for (const [key, { id, follower }] of [...this.#followers]) {
      if (wanted.get(key)?.watch.id === id) continue;
      follower.dispose();
      this.#followers.delete(key);
    }
    for (const [key, { conversation, watch }] of wanted) {
      if (!this.#followers.has(key)) this.#follow(key, conversation, watch);
    }
    this.#followFiles();
  }

  #follow(key: string, conversation: string, watch: LineWatch): void {
    const { clock, handles, workspace } = this.#deps;
    const { target, id } = watch;
    const name = handleInScope(target);
    const path = nameInScope('file', target);
    const handle = name === undefined ? undefined : handles.list(conversation).find((one) => one.name === name);
    const source =
      handle !== undefined ? handleLines(handle) : path === undefined ? undefined : fileLines(workspace, clock, path);
    if (source === undefined) return;
    const { live } = this.#host;
    const deps = { clock, publisher: this.#publisher, live, pace: this.#pace, report: this.#report };
    const follower = new LineFollower({ ...deps, source, conversation, target }, watch);
    this.#followers.set(key, { id, follower });
    if (handle?.hasEnded === true) void follower.finish().catch(this.#report);
  }

  /** Watches the files among the sources, if there are any. */
  #followFiles(): void {
    const paths = [...this.#followers.keys()].flatMap((key) => nameInScope('file', targetOf(key)) ?? []);
    if (paths.length === 0) {
      this.#files?.watched.dispose();
      this.#files?.timer.dispose();
      this.#files = undefined;
      return;
    }
    this.#files ??= { watched: this.#watchFiles(), known: new Set(), timer: this.#lookLater() };
    const { watched, known } = this.#files;
    for (const path of paths) {
      if (known.has(path)) continue;
      known.add(path);
      void this.#deps.workspace
        .resolve(path)
        .then((file) => file.ok && this.#files?.watched === watched && watched.add(path, file.value.absolute))
        .catch(this.#report);
    }
  }

  #watchFiles(): WatchedPaths {
    const { logger } = this.#deps;
    // At the system's limit, looking at the files is enough.
    return new WatchedPaths({ logger, hasOther: true, touched: (path) => this.#poke(path), broke: this.#report });
  }

  #lookLater(): Disposable {
    return this.#deps.clock.after(LOOK_EVERY, () => {
      if (this.#files === undefined) return;
      this.#files.timer = this.#lookLater();
      this.#poke();
    });
  }

  /** Searches this file, or all files, for new lines. */
  #poke(path?: string): void {
    for (const [key, { follower }] of this.#followers) {
      const file = nameInScope('file', targetOf(key));
      if (file !== undefined && (path === undefined || file === path)) follower.poke();
    }
  }

  readonly #report = (error: unknown) => this.#deps.logger.error('lines could not be searched', error);
}

/** Neither part has a line break. */
function keyOf(conversation: string, target: string): string {
  return `${conversation}\n${target}`;
}

function targetOf(key: string): string {
  return key.slice(key.indexOf('\n') + 1);
}

/** The output of a background command as a source of lines: its supervisor's file, which outlives the editor. */
function handleLines(handle: Handle & { readonly name: string }): LineSource {
  const { process, name } = handle;
  return {
    words: {
      name: `The background command “${name}”`,
      origin: 'process',
      readMore: (from) => ` handle fetch ${name} with from ${from} shows its output from there.`,
    },
    read: async ({ through }, limit) => {
      const { size } = process.status;
      if (size <= through) return undefined;
      const { from, bytes } = await process.read(through, Math.min(limit, size - through));
      return bytes.length === 0 ? undefined : { bytes, from, skipped: from - through };
    },
  };
}
