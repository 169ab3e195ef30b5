// Facts about CI and pull requests for conditions. Implemented in producers/forge/.
import { type Disposable } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { countOf, shortList } from '../../base/text.ts';
import { type Atom, type AtomOf } from '../../protocol/wakes.ts';
import { type Fact, type FactContext, type FactSource } from './fact.ts';

export interface ForgeState {
  /** Why nothing is known. */
  readonly unknown?: string;
  /** A later push has replaced the commit. */
  readonly superseded?: string;
  readonly checks?: {
    readonly total: number;
    readonly ended: number;
    readonly failed: readonly string[];
    /** There will be none: it was pushed a while ago. */
    readonly none: boolean;
  };
  /** Undefined with `checks` undefined too: there is no pull request. */
  readonly pull?: {
    readonly number: number;
    readonly state: 'open' | 'draft' | 'conflict' | 'merged' | 'closed';
    readonly verdict: 'approved' | 'changes_requested' | 'none';
    /** Who commented since the condition was set. */
    readonly commented?: string;
  };
}

export interface ForgeFacts {
  /** The commit or the branch that is meant now, for `follow`. The failure says what to do. */
  anchor(atom: AtomOf<'ci'> | AtomOf<'pr'>): Promise<Result<string>>;
  /** Looks at it regularly until disposed of. */
  follow(anchor: string, changed: () => void): Disposable & { read(): Promise<ForgeState> };
}

export function isForgeAtom(atom: Atom): atom is AtomOf<'ci'> | AtomOf<'pr'> {
  return 'ci' in atom || 'pr' in atom;
}

export function followForge(
  forge: ForgeFacts | undefined,
  atom: AtomOf<'ci'> | AtomOf<'pr'>,
  { anchor, changed }: FactContext,
): FactSource {
  const followed = anchor === undefined ? undefined : forge?.follow(anchor, changed);
  return {
    read: async () => {
      const state = await followed?.read();
      if (state === undefined) return { truth: 'unknown', evidence: 'CI and pull requests are not followed here' };
      if (state.unknown !== undefined) return { truth: 'unknown', evidence: state.unknown };
      return 'ci' in atom ? ciFact(atom.is, state) : pullFact(atom.is, state);
    },
    dispose: () => followed?.dispose(),
  };
}

function ciFact(is: AtomOf<'ci'>['is'], { superseded, checks }: ForgeState): Fact {
  if (superseded !== undefined) return { truth: 'never', evidence: `a later push has replaced it: ${superseded}` };
  if (checks === undefined) return { truth: 'no', evidence: 'it is not pushed yet' };
  const { total, ended, failed, none } = checks;
  if (total === 0) return { truth: none ? 'never' : 'no', evidence: none ? 'it has no checks' : 'no check has begun' };
  const isOver = ended === total;
  const names = failed.length === 0 ? '' : `: ${shortList(failed, 3)}`;
  const evidence = `${ended} of ${countOf(total, 'check')} ended, ${failed.length} failed${names}`;
  const isRed = failed.length > 0;
  if (is === 'done') return { truth: isOver ? 'yes' : 'no', evidence };
  if (is === 'red' && isRed) return { truth: 'yes', evidence };
  if (is === 'green' && isOver && !isRed) return { truth: 'yes', evidence };
  return { truth: isOver || isRed ? 'never' : 'no', evidence };
}

function pullFact(is: AtomOf<'pr'>['is'], { pull }: ForgeState): Fact {
  if (pull === undefined) return { truth: 'no', evidence: 'there is no pull request' };
  const { number, state, verdict, commented } = pull;
  const review = verdict === 'none' ? 'no verdict' : verdict.replace('_', ' ');
  const evidence = `#${number} is ${state === 'conflict' ? 'in conflict' : state}, ${review}${commented === undefined ? '' : `, ${commented} commented`}`;
  const holds = is === 'commented' ? commented !== undefined : is === state || is === verdict;
  if (holds) return { truth: 'yes', evidence };
  return { truth: state === 'merged' || state === 'closed' ? 'never' : 'no', evidence };
}
