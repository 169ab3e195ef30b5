// What conditions ask about CI and pull requests: fixes the commit or the branch that they mean, and follows it.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type ForgeFacts, type ForgeState } from '../../core/wakes/forgeFacts.ts';
import { type ForgeWay } from '../../protocol/settings.ts';
import { type AtomOf } from '../../protocol/wakes.ts';
import { type AwaitedCommit, type ForgeTargets } from './forgeTargets.ts';
import { findCommit, readLocalCommit, type WatchedRepository } from './localCommits.ts';
import { type Place } from './remotes.ts';

const SET_UP = 'The user can set earshot.forge to gh or account to have CI and pull requests followed.';
const LONGEST_LOOK = 60_000;
const MOST_PLACES = 5;

/** What a condition is about, as the log has it. Fixed when it is set. */
type Anchor = Omit<AwaitedCommit, 'changed'> & {
  /** It was named by its hash, so that a later push does not matter. */
  readonly named?: true;
};

interface ConditionsDeps {
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly workspace: { readonly trusted: boolean };
  readonly targets: ForgeTargets;
  way(): ForgeWay;
  ask?(host: string, why: 'condition'): void;
  repositories(): Promise<readonly WatchedRepository[]>;
  /** Runs when no other look does. */
  look<T>(work: () => Promise<T>): Promise<T>;
}

export class ForgeConditions implements ForgeFacts {
  readonly asked = new Set<AwaitedCommit>();
  readonly #deps: ConditionsDeps;

  constructor(deps: ConditionsDeps) {
    this.#deps = deps;
  }

  async anchor(atom: AtomOf<'ci'> | AtomOf<'pr'>): Promise<Result<string>> {
    const { clock, env, workspace, way, ask } = this.#deps;
    if (!workspace.trusted) return failed('untrusted', 'the workspace is not trusted.');
    const [repository] = await this.#deps.repositories();
    const local = repository && (await readLocalCommit(repository.folder, env));
    if (repository === undefined || local === undefined) {
      return failed('not_found', 'no branch is checked out whose repository has a remote on GitHub or GitLab.');
    }
    const { target, remotes, sha: head } = local;
    if (way() === 'off') return failed('refused', `the user has switched it off. ${SET_UP}`);
    if (way() === 'ask') {
      ask?.(target.remote.host, 'condition');
      const next = ask === undefined ? SET_UP : 'They are being asked now: set it again once they have answered.';
      return failed('refused', `the user has not allowed it yet. ${next}`);
    }
    const place = ({ host, path, forge }: Place) => ({ host, path, forge });
    const { branch } = target;
    const common = {
      place: place(target.remote),
      places: remotes.slice(0, MOST_PLACES).map(place),
      branch,
      at: clock.now(),
    };
    if ('pr' in atom) return this.#checked(common);
    if (atom.ci === 'HEAD') return this.#checked({ ...common, sha: head });
    const sha = await findCommit(repository.folder, atom.ci, AbortSignal.timeout(LONGEST_LOOK));
    if (sha === undefined) return failed('not_found', `there is no commit ${atom.ci} here.`);
    return this.#checked({ ...common, sha, named: true });
  }

  follow(text: string, changed: () => void): Disposable & { read(): Promise<ForgeState> } {
    const anchor = JSON.parse(text) as Anchor;
    const asked: AwaitedCommit = { ...anchor, changed };
    this.asked.add(asked);
    const { dispose } = toDisposable(() => this.asked.delete(asked));
    return { read: () => this.#read(anchor), dispose };
  }

  async #read(anchor: Anchor): Promise<ForgeState> {
    const { workspace, clock, way } = this.#deps;
    if (!workspace.trusted || way() === 'off' || way() === 'ask') return { unknown: SET_UP };
    await this.#lookOnce(anchor);
    const { follower } = this.#targetOf(anchor);
    if (!('superseded' in follower)) return follower.state(anchor.at);
    const { superseded } = follower;
    // Git keeps whole seconds.
    const isLater = superseded !== undefined && superseded.at >= Math.floor(anchor.at / 1000) * 1000;
    const isReplaced = anchor.named !== true && isLater;
    return isReplaced ? { superseded: superseded.sha.slice(0, 7) } : follower.state(clock.now());
  }

  /** Looks at it once, so that what cannot work is refused with its reason. */
  async #checked(anchor: Anchor): Promise<Result<string>> {
    await this.#lookOnce(anchor);
    const { needs } = this.#targetOf(anchor).follower;
    return needs === undefined ? succeeded(JSON.stringify(anchor)) : failed('refused', needs);
  }

  /** Unless it was looked at before. */
  #lookOnce(anchor: Anchor): Promise<void> {
    return this.#deps.look(async () => {
      const target = this.#targetOf(anchor);
      if (target.follower.next === 0) await this.#deps.targets.lookAt(target, AbortSignal.timeout(LONGEST_LOOK));
    });
  }

  #targetOf({ place, places, branch, sha, at }: Anchor) {
    const { targets } = this.#deps;
    return sha === undefined ? targets.pull(place, branch, at, places) : targets.commit(place, sha);
  }
}
