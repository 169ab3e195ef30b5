// Reviews one list of changes, the agent's own or those of others meanwhile: shows, keeps and undoes files and hunks.
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { defined } from '../../base/json/defined.ts';
import { type EventDraft } from '../../protocol/event.ts';
import { type LiveConversation, storageFailure } from '../conversation/liveConversation.ts';
import { type ChangeList, type Step } from '../conversation/projections/changes.ts';
import { type Difference, differenceOf, type Hunk, withHunk, withoutHunk } from './hunks.ts';
import {
  changesKind,
  changesSomething,
  decidable,
  type PutBack,
  type PutBackDeps,
  planPutBack,
  putBack,
  type Unchanged,
} from './putBack.ts';

export interface ReviewDeps extends PutBackDeps {
  /** The conversation whose changes are reviewed. */
  live(): LiveConversation | undefined;
}

/** One file with changes that are neither kept nor undone. */
export interface ReviewedFile extends Difference {
  readonly path: string;
  readonly kind: 'changed' | 'created' | 'deleted';
  /** Others have changed the same lines since, so the file can be kept but not undone as a whole. */
  readonly clash: boolean;
  /** It appeared while a command ran. Undoing deletes it, although somebody else may have created it. */
  readonly appeared: boolean;
  /** A command replaced somebody else's changes: undoing restores them. */
  readonly overwrote: boolean;
  /** It is a link, or its name is not valid text, so the editor cannot open it. */
  readonly onDiskOnly: boolean;
  /** Identifies the compared states: a decision about other states is refused. */
  readonly version: string;
}

/** The changed files, and the files that were left unchanged, with the reason. */
export interface Reviewed {
  readonly done: readonly string[];
  readonly stayed: readonly { readonly path: string; readonly reason: string }[];
}

type Files = Extract<EventDraft, { type: 'changes_reviewed' }>['files'];

interface Compared {
  readonly plan: PutBack;
  readonly through: number;
  /** The bytes without the agent's changes, as far as they are known. */
  readonly base?: Uint8Array;
}

/** At most this many files are compared for display; keeping and undoing cover all files. */
const MOST_COMPARED = 300;

export class Review {
  readonly #deps: ReviewDeps;
  readonly #list: ChangeList;

  constructor(deps: ReviewDeps, list: ChangeList = 'own') {
    this.#deps = deps;
    this.#list = list;
  }

  get #open(): ReadonlyMap<string, readonly Step[]> {
    const changes = this.#deps.live()?.log.state.changes;
    const open = this.#list === 'own' ? changes?.open : changes?.meanwhile;
    return open ?? new Map<string, readonly Step[]>();
  }

  /** The files that differ from their earlier state, in the order in which they were first changed. */
  async files(most = MOST_COMPARED): Promise<readonly ReviewedFile[]> {
    const paths = [...this.#open.keys()].slice(0, most);
    const files = await Promise.all(paths.map((path) => this.file(path)));
    return files.filter((file) => file !== undefined);
  }

  async file(path: string): Promise<ReviewedFile | undefined> {
    const compared = await this.#compare(path);
    if (compared === undefined || compared.plan.outcome === 'same') return undefined;
    const { plan, base, through } = compared;
    const { present } = plan;
    const kind = present === undefined ? 'deleted' : base === undefined ? 'created' : 'changed';
    const clash = plan.outcome === 'clash' || plan.outcome === 'impossible';
    const appeared = plan.outcome === 'deleted' && this.#open.get(path)?.[0]?.found === true;
    const overwrote = this.#open.get(path)?.some((step) => step.overwrote === true) === true;
    return {
      path,
      kind,
      clash,
      appeared,
      overwrote,
      onDiskOnly: plan.file === undefined && plan.outcome !== 'impossible',
      version: this.#version(compared, through),
      ...differenceIn(compared),
    };
  }

  /**
   * The file without the agent's changes; without `bytes` if there would be no file. Undefined if there is nothing to
   * review.
   */
  async base(path: string): Promise<{ readonly bytes?: Uint8Array } | undefined> {
    const compared = await this.#compare(path);
    return compared && (compared.base === undefined ? {} : { bytes: compared.base });
  }

  /** The present bytes; for a link, its target. */
  async present(path: string): Promise<Uint8Array | undefined> {
    return (await this.#compare(path))?.plan.present;
  }

  /** Without paths, keeps everything that is to be reviewed. */
  async keep(paths: readonly string[] = [...this.#open.keys()]): Promise<Result<Reviewed>> {
    const files = paths.flatMap((path) => {
      const last = this.#open.get(path)?.at(-1);
      return last === undefined ? [] : [{ path, through: last.seq }];
    });
    if (files.length === 0) return nothingToReview();
    const written = await this.#decided('keep', files);
    return written.ok ? succeeded({ done: files.map(({ path }) => path), stayed: [] }) : written;
  }

  async undo(paths: readonly string[] = [...this.#open.keys()]): Promise<Result<Reviewed>> {
    const live = decidable(this.#deps.live());
    if (!live.ok) return live;
    const all = (await Promise.all(paths.map((path) => this.#compare(path)))).filter((one) => one !== undefined);
    if (all.length === 0) return nothingToReview();
    const stayed = all.flatMap(({ plan }) => whyStays(plan) ?? []);
    const doable = all.filter(({ plan }) => plan.outcome === 'same' || changesSomething(plan));
    if (doable.length === 0) return succeeded({ done: [], stayed });
    const planned = await Promise.all(
      doable.map(async (one) => ({ ...(await this.#around(one)), through: one.through })),
    );
    return whileChanging(live.value, planned, async () => {
      const done = await putBack(
        this.#deps,
        doable.filter(({ plan }) => changesSomething(plan)).map(({ plan }) => plan),
      );
      if (!done.ok) return done;
      const files = filesChanged(planned, done.value);
      const written = await this.#decided('undo', files);
      return written.ok ? succeeded(reviewedFiles(files, [...stayed, ...done.value])) : written;
    });
  }

  /** Keeps one hunk, which is no longer shown; the rest is still to be reviewed. */
  keepHunk(path: string, version: string, index: number): Promise<Result<Reviewed>> {
    return this.#hunk(path, version, index, 'keep', ({ base, plan }, hunk) => ({
      before: withHunk(base ?? new Uint8Array(), hunk),
      after: plan.present ?? new Uint8Array(),
    }));
  }

  undoHunk(path: string, version: string, index: number): Promise<Result<Reviewed>> {
    return this.#hunk(path, version, index, 'undo', ({ base, plan }, hunk) => ({
      before: base ?? new Uint8Array(),
      after: withoutHunk(plan.present ?? new Uint8Array(), hunk),
    }));
  }

  async #hunk(
    path: string,
    version: string,
    index: number,
    action: 'keep' | 'undo',
    decide: (compared: Compared, hunk: Hunk) => { before: Uint8Array; after: Uint8Array },
  ): Promise<Result<Reviewed>> {
    const live = decidable(this.#deps.live());
    if (!live.ok && action === 'undo') return live;
    const compared = await this.#compare(path);
    const hunks = compared && differenceIn(compared).hunks;
    const hunk = hunks?.[index];
    if (compared === undefined || hunk === undefined || this.#version(compared, compared.through) !== version) {
      return failed('moved_on', `${path} has changed since.`, 'Review its changes again.');
    }
    // With one hunk left, this means the whole file; a created or deleted file has no hunks to decide on.
    if (hunks?.length === 1 || compared.base === undefined || compared.plan.present === undefined) {
      return action === 'keep' ? this.keep([path]) : this.undo([path]);
    }
    const { snapshots } = this.#deps;
    const { present } = compared.plan;
    const rest = decide(compared, hunk);
    const hashes = { before: await snapshots.put(rest.before), after: await snapshots.put(rest.after) };
    const around = { before: await snapshots.put(present), after: hashes.after };
    const decision = { path, through: compared.through, rest: hashes, ...(action === 'undo' && around) };
    return whileChanging(this.#deps.live(), [{ path }], async () => {
      if (action === 'undo') {
        const put: PutBack = { ...compared.plan, outcome: 'merged', target: rest.after };
        const done = await putBack(this.#deps, [put]);
        if (!done.ok) return done;
      }
      const written = await this.#decided(action, [decision]);
      return written.ok ? succeeded({ done: [path], stayed: [] }) : written;
    });
  }

  async #compare(path: string): Promise<Compared | undefined> {
    const steps = this.#open.get(path);
    const last = steps?.at(-1);
    if (steps === undefined || last === undefined) return undefined;
    const plan = await planPutBack(this.#deps, path, steps);
    const isClean = plan.outcome !== 'clash' && plan.outcome !== 'impossible';
    const first = steps[0]?.before;
    const stored = async () => (first === undefined ? undefined : this.#deps.snapshots.get(first));
    const base = isClean ? plan.target : (plan.without ?? (await stored()));
    return { plan, through: last.seq, ...defined({ base }) };
  }

  async #around({ plan }: Compared): Promise<Omit<Files[number], 'through'>> {
    return aroundOf(this.#deps, plan);
  }

  #version({ base, plan }: Compared, through: number): string {
    const { snapshots } = this.#deps;
    const name = (bytes: Uint8Array | undefined) => (bytes === undefined ? 'none' : snapshots.hash(bytes).slice(0, 16));
    return `${through}-${name(base)}-${name(plan.present)}`;
  }

  async #decided(action: 'keep' | 'undo', files: Files): Promise<Result<void>> {
    const meant = files.map((file) => ({ ...file, ...(this.#list === 'meanwhile' && { meanwhile: true as const }) }));
    return appendTo(this.#deps.live(), { type: 'changes_reviewed', action, files: meant });
  }
}

/** Links and permissions have no hunks: they are decided on as a whole. */
function differenceIn({ base, plan }: Compared): Difference {
  const { hunks, ...counts } = differenceOf(base, plan.present);
  const isWhole = base !== undefined && plan.present !== undefined && changesKind(plan);
  return isWhole || hunks === undefined ? counts : { ...counts, hunks };
}

/** The bytes before and after a decision. They are stored before the event that names them is written. */
export async function aroundOf(
  { snapshots }: Pick<PutBackDeps, 'snapshots'>,
  put: PutBack,
): Promise<Omit<Files[number], 'through'>> {
  const { path, present, target, presentKind, targetKind, presentMode, targetMode } = put;
  const hasModes = target === undefined || (targetMode !== undefined && targetMode !== presentMode);
  return {
    path,
    ...(present !== undefined && { before: await snapshots.put(present) }),
    ...(target !== undefined && { after: await snapshots.put(target) }),
    ...(present !== undefined && presentKind !== targetKind && presentKind && { before_kind: presentKind }),
    ...(target !== undefined && presentKind !== targetKind && targetKind && { after_kind: targetKind }),
    ...(hasModes && presentMode !== undefined && { before_mode: presentMode }),
    ...(hasModes && targetMode !== undefined && { after_mode: targetMode }),
  };
}

/** The files of an event without what was not changed, so that the event says what really happened. */
export function filesChanged(planned: Files, unchanged: readonly Unchanged[]): Files {
  const stayed = new Map(unchanged.map((one) => [one.path, one]));
  return planned.flatMap((file) => {
    const one = stayed.get(file.path);
    if (one === undefined) return [file];
    const { before_kind: _before, after_kind: _after, before_mode: _old, after_mode: _new, ...bytes } = file;
    return one.bytesChanged === true ? [bytes] : [];
  });
}

export function reviewedFiles(files: Files, stayed: Reviewed['stayed']): Reviewed {
  return { done: files.map(({ path }) => path), stayed: stayed.map(({ path, reason }) => ({ path, reason })) };
}

/** Changes files and records it. Meanwhile nobody is notified of these changes, since only the event says who made them. */
export async function whileChanging<T>(
  live: LiveConversation | undefined,
  files: readonly { readonly path: string }[],
  change: () => Promise<T>,
): Promise<T> {
  const end = live?.changing(files.map(({ path }) => path));
  try {
    return await change();
  } finally {
    end?.();
  }
}

export async function appendTo(live: LiveConversation | undefined, draft: EventDraft): Promise<Result<void>> {
  if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
  try {
    await live.log.append(draft);
    return succeeded(undefined);
  } catch (error) {
    return storageFailure(error);
  }
}

export function whyStays({ path, outcome, reason }: PutBack): { path: string; reason: string } | undefined {
  if (outcome === 'clash')
    return { path, reason: 'The same lines were changed since, so the file was left unchanged.' };
  return outcome === 'impossible' ? { path, reason: reason ?? 'It cannot be undone.' } : undefined;
}

function nothingToReview(): Result<Reviewed> {
  return failed('nothing', 'There are no changes to review.');
}
