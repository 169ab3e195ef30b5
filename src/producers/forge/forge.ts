// Watches what the conversations push: follows its CI and pull requests on GitHub or GitLab, for them and for conditions.
import { Sequence } from '../../base/async.ts';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type Clock, type Logger, type Producer, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type Workspace, type FilePath } from '../../core/ports/workspace.ts';
import { type ForgeFacts } from '../../core/wakes/forgeFacts.ts';
import { findGitFolder, type GitFolder } from '../../node/files/gitFolder.ts';
import { type ForgeWay } from '../../protocol/settings.ts';
import { withdrawResults } from './commitFollower.ts';
import { type ForgeClientsDeps } from './forgeClients.ts';
import { ForgeConditions } from './forgeConditions.ts';
import {
  commitsSince,
  readLocalCommit,
  readTip,
  stampOf,
  type WatchedRepository,
  filesOf,
  type Pushed,
  readMaking,
} from './localCommits.ts';
import { commitSubject } from './forgeReports.ts';
import { type AwaitedCommit, ForgeTargets } from './forgeTargets.ts';
import { type Place } from './remotes.ts';
import { type FollowedCommit } from '../../protocol/forge/followedCommit.ts';
import { inWorkspace } from '../git/inWorkspace.ts';

export interface ForgeDeps extends ForgeClientsDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly workspace: Pick<Workspace, 'folders' | 'trusted'>;
  way(): ForgeWay;
  /** Asks the user which way may be used: for what a conversation pushed, or for a condition. Absent: nobody can be asked. */
  ask?(host: string, why: 'push' | 'condition'): void;
  /** The user has to do something, such as to sign in. */
  trouble?(message: string): void;
  /** A host was asked: what the user has to do first, if anything. */
  looked?(host: string, needs: string | undefined): void;
  /** The user is at this window. Absent: always. */
  isActive?(): boolean;
}

export interface Forge {
  readonly producer: Producer;
  readonly facts: ForgeFacts;
}

/** Looks at git's own files; nothing is asked of a forge. */
const LOOK_EVERY = 2000;

export function createForge(deps: ForgeDeps): Forge {
  const watch = new ForgeWatch(deps);
  return {
    producer: { name: 'forge', start: (publisher, _seen, { live }) => watch.start(publisher, live) },
    facts: watch.conditions,
  };
}

interface Running {
  readonly publisher: Publisher;
  readonly live: LiveConversations;
  readonly signal: AbortSignal;
}

class ForgeWatch {
  readonly conditions: ForgeConditions;
  readonly #deps: ForgeDeps;
  readonly #targets: ForgeTargets;
  /** One look at a time, whether of the watch or for a condition. */
  readonly #work = new Sequence();
  #repositories: { readonly of: string; readonly found: readonly WatchedRepository[] } | undefined;
  #way: ForgeWay = 'off';
  #wasActive = false;

  constructor(deps: ForgeDeps) {
    this.#deps = deps;
    this.#targets = new ForgeTargets(deps);
    const look = <T>(work: () => Promise<T>) => this.#work.run(work);
    this.conditions = new ForgeConditions({ ...deps, targets: this.#targets, repositories: () => this.#open(), look });
  }

  start(publisher: Publisher, live: LiveConversations): Disposable {
    const { clock, logger } = this.#deps;
    const end = new AbortController();
    const { signal } = end;
    const running: Running = { publisher, live, signal };
    const report = (error: unknown) => {
      if (!signal.aborted) logger.error('CI and pull requests could not be followed', error);
    };
    let timer: Disposable | undefined;
    const tick = () => {
      const next = () => {
        if (!signal.aborted) timer = clock.after(LOOK_EVERY, tick);
      };
      void this.#work
        .run(() => this.#tick(running))
        .catch(report)
        .finally(next);
    };
    const listening = live.onDidChange(() => this.#targets.active());
    this.#targets.active();
    // What was determined while it was off is not known any more.
    this.#repositories = undefined;
    tick();
    return toDisposable(() => {
      end.abort();
      listening.dispose();
      timer?.dispose();
    });
  }

  async #tick(running: Running): Promise<void> {
    const { workspace, way, isActive } = this.#deps;
    if (running.signal.aborted || !workspace.trusted) return;
    const now = way();
    if (now !== this.#way) this.#targets.forget();
    this.#way = now;
    if (now === 'off') return;
    const active = isActive?.() !== false;
    if (active && !this.#wasActive) this.#targets.active();
    this.#wasActive = active;
    const repositories = await this.#open();
    for (const repository of repositories) {
      // Read before the files: what happens meanwhile is noticed the next time.
      const stamp = await stampOf(repository.folder, repository.local?.watched);
      const state = JSON.stringify([stamp, now, running.live.ids()]);
      if (state === repository.state) continue;
      const watched = JSON.stringify(repository.local?.watched);
      repository.local = await readLocalCommit(repository.folder, this.#deps.env);
      // Other files are watched from now on, so it is compared again.
      repository.state = watched === JSON.stringify(repository.local?.watched) ? state : '';
      await this.#changed(repository, running);
    }
    if (now === 'ask') return;
    const places: Place[] = repositories.flatMap(({ local }) => local?.remotes ?? []);
    const { asked } = this.conditions;
    await this.#targets.look({ ...running, active, asked, places, moved: (sha) => this.#moved(sha, running.signal) });
  }

  /** A push, a fetch or another branch: finds whom it concerns, and which commits were replaced. */
  async #changed(repository: WatchedRepository, { live, publisher, signal }: Running): Promise<void> {
    const { clock, workspace, ask } = this.#deps;
    const { folder, local } = repository;
    for (const pushed of local?.pushed ?? []) {
      // What was fetched is the work of others, whose results are theirs.
      const isOwn = pushed.fromHere && pushed.at !== undefined && clock.now() - pushed.at <= OLDEST;
      const found = isOwn ? await findConcerned(folder, pushed, workspace.folders, { live, signal }) : [];
      if (found.length > 0 && this.#way === 'ask') ask?.(pushed.remote.host, 'push');
      else for (const one of found) await this.#follow(one, live, publisher);
    }
    if (this.#way === 'ask') return;
    const commits = live.ids().flatMap((id) => live.commits(id)?.followed ?? []);
    for (const { repository: name, branch, sha } of [...commits, ...[...this.conditions.asked].map(asFollowed)]) {
      const remote = local?.remotes.find(({ host, path }) => `${host}/${path}` === name);
      const tip = remote && (await readTip(folder, remote, branch));
      if (tip === undefined || sha === '') continue;
      if (tip.sha === sha) this.#targets.commit(tip.remote, sha).follower.pushedAt(tip.at ?? clock.now());
      else await this.#targets.replaced(tip.remote, sha, { sha: tip.sha, at: tip.at ?? 0 }, publisher);
    }
  }

  async #follow({ conversation, commit }: NewConcern, live: LiveConversations, publisher: Publisher): Promise<void> {
    const { repository, branch } = commit;
    const before = live
      .commits(conversation)
      ?.followed.find((one) => one.repository === repository && one.branch === branch);
    // What is pending of the replaced commit is no news any more.
    if (before !== undefined) await withdrawResults(commitSubject(before), publisher, conversation);
    await live.followCommit(conversation, commit);
  }

  async #moved(sha: string, signal: AbortSignal): Promise<number | undefined> {
    for (const { folder, local } of await this.#open()) {
      const count = local && (await commitsSince(folder, sha, signal));
      if (count !== undefined) return count;
    }
    return undefined;
  }

  /** The repositories of the workspace's folders. */
  async #open(): Promise<readonly WatchedRepository[]> {
    const { folders } = this.#deps.workspace;
    const of = JSON.stringify(folders.map(({ absolute }) => absolute));
    // One may be made later.
    if (this.#repositories?.of !== of || this.#repositories.found.length === 0) {
      this.#repositories = { of, found: await openAll(folders) };
    }
    return this.#repositories.found;
  }
}

function asFollowed({ place, branch, sha = '' }: AwaitedCommit) {
  return { repository: `${place.host}/${place.path}`, branch, sha };
}

async function openAll(folders: readonly { readonly absolute: string }[]): Promise<WatchedRepository[]> {
  const found = await Promise.all(folders.map(({ absolute }) => findGitFolder(absolute)));
  const byPlace = new Map(found.flatMap((folder) => (folder === undefined ? [] : [[folder.own, folder] as const])));
  return [...byPlace.values()].map((folder) => ({ folder, local: undefined, state: '' }));
}

/** A push that was found later than this is no news. */
const OLDEST = 24 * 3600_000;

interface NewConcern {
  readonly conversation: string;
  readonly commit: FollowedCommit;
}

/**
 * Determines which conversations a pushed commit concerns: those whose commands pushed or made it, or whose changes it has.
 */
async function findConcerned(
  folder: GitFolder,
  { remote, branch, sha, at }: Pushed,
  folders: readonly FilePath[],
  { live, signal }: Pick<Running, 'live' | 'signal'>,
): Promise<NewConcern[]> {
  if (at === undefined) return [];
  const repository = `${remote.host}/${remote.path}`;
  const isFollowed = (id: string) =>
    live.commits(id)?.followed.some((one) => one.repository === repository && one.sha === sha) === true;
  const open = live.ids().filter((id) => live.commits(id) !== undefined && !isFollowed(id));
  if (open.length === 0) return [];
  const making = await readMaking(folder, sha);
  let files: ReadonlySet<string> | undefined;
  const found = new Map<string, FollowedCommit>();
  for (const id of open) {
    const record = live.commits(id);
    if (record === undefined) continue;
    let by: FollowedCommit['by'] | undefined;
    if (record.ranGit(at)) by = 'pushed';
    else if (making !== undefined && record.ranGit(making.at)) by = 'committed';
    else if (record.isListener) by = 'folder';
    else if (record.changed.size > 0) {
      files ??= new Set(inWorkspace(folders, folder.tree, await filesOf(folder, sha, signal)));
      if ([...files].some((path) => record.changed.has(path))) by = 'edited';
    }
    // A subagent is over before its commit is checked.
    const parent = by === undefined ? undefined : record.parent;
    const conversation = parent !== undefined && live.commits(parent) !== undefined ? parent : id;
    if (by === undefined || isFollowed(conversation) || found.get(conversation)?.by === 'pushed') continue;
    const title = making?.title?.slice(0, 200);
    const commit = {
      repository,
      branch,
      sha,
      at: new Date(at).toISOString(),
      by,
      ...(title !== undefined && { title }),
    };
    found.set(conversation, commit);
  }
  return [...found].map(([conversation, commit]) => ({ conversation, commit }));
}
