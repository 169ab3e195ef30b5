// Projects the files that the agent changed in each turn, the changes left to review, those undone, and those made by
// others meanwhile.
import { shortTitle } from './summary.ts';
import { defined } from '../../../base/json/defined.ts';
import { type EntryKind, type EventOf, type LogEvent } from '../../../protocol/event.ts';

/** One change of one file, as hashes of its bytes; absent: no such file. */
export interface Step {
  /** The event that reports it. */
  readonly seq: number;
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
  /** What kind of entry the bytes belong to, unless it is a plain file; see the event. */
  readonly beforeKind?: EntryKind;
  readonly afterKind?: EntryKind;
  readonly beforeMode?: number;
  readonly afterMode?: number;
  /** Found by comparing the workspace before and after a command: probably, not certainly, written by it. */
  readonly found?: true;
  /** The previous bytes were written by somebody else after the model had read the file. */
  readonly overwrote?: true;
}

/** `own`: changes by the agent's calls. `meanwhile`: changes by others while they ran. */
export type ChangeList = 'own' | 'meanwhile';

interface TakenCheckpoint {
  readonly name: string;
  /** Hashes of unsaved buffers, by path. */
  readonly unsaved: ReadonlyMap<string, string>;
}

export interface ChangedTurn {
  /** The number of its `turn_started`. */
  readonly seq: number;
  /** The event id of the request that began it; empty until there is one. */
  readonly request: string;
  readonly title: string;
  /** The workspace before the turn. */
  readonly checkpoint?: TakenCheckpoint;
  /** In order, without undone steps. */
  readonly steps: readonly Step[];
}

type Reviewed = EventOf<'changes_reviewed'>;

/** The steps that an undo or restore removed from the lists, so that it can be reverted. */
interface Settled {
  readonly seq: number;
  readonly undone: readonly Step[];
  readonly open: readonly (readonly [ChangeList, string, readonly Step[]])[];
}

interface Turn {
  seq: number;
  request: string;
  title: string;
  checkpoint?: TakenCheckpoint;
  steps: Step[];
}

export class Changes {
  readonly #turns: Turn[] = [];
  readonly #byRequest = new Map<string, Turn>();
  readonly #open: Readonly<Record<ChangeList, Map<string, Step[]>>> = { own: new Map(), meanwhile: new Map() };
  readonly #last = new Map<string, Step>();
  #lastSeq = 0;
  readonly #paths = new Set<string>();
  /** Calls around which the workspace was captured. */
  readonly #captured = new Set<string>();
  readonly #undone = new Set<Step>();
  readonly #settled = new Map<string, Settled>();
  readonly #decisions = new Map<string, Reviewed>();

  /** Oldest first, including turns that changed nothing. */
  get turns(): readonly ChangedTurn[] {
    return this.#turns.map((turn) => this.#view(turn));
  }

  /** The turn begun by the request with this event id, and all later turns. */
  since(request: string): readonly ChangedTurn[] {
    const turn = this.#byRequest.get(request);
    return turn === undefined ? [] : this.#turns.slice(this.#turns.indexOf(turn)).map((one) => this.#view(one));
  }

  /** Changes not kept or undone yet, by path, in order. */
  get open(): ReadonlyMap<string, readonly Step[]> {
    return this.#open.own;
  }

  /** Changes by others while calls ran, not dismissed or undone yet, by path, in order. */
  get meanwhile(): ReadonlyMap<string, readonly Step[]> {
    return this.#open.meanwhile;
  }

  /** The number of the last event that changed a file. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The agent's newest change of a file, even if it was kept or undone. */
  lastStep(path: string): Step | undefined {
    return this.#last.get(path);
  }

  /** Every file that the agent has ever changed. */
  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** The undo or restore with this event id, if it can be reverted. */
  decision(event: string): Reviewed | undefined {
    return this.#decisions.get(event);
  }

  /** Returns whether the list of changes to review may have changed. */
  fold(event: LogEvent): boolean {
    switch (event.type) {
      case 'turn_started':
        this.#turns.push({ seq: event.seq, request: '', title: '', steps: [] });
        return false;
      case 'chat_request':
        this.#requested(event);
        return false;
      case 'checkpoint_taken':
        this.#taken(event);
        return false;
      case 'tool_call_response':
        return this.#changed(event);
      case 'changes_reviewed':
        this.#reviewed(event);
        return true;
      default:
        return false;
    }
  }

  #view(turn: Turn): ChangedTurn {
    const { seq, request, title, checkpoint } = turn;
    const steps = turn.steps.filter((step) => !this.#undone.has(step));
    return { seq, request, title, ...defined({ checkpoint }), steps };
  }

  #requested(event: EventOf<'chat_request'>): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined || turn.request !== '') return;
    turn.request = event.event_id;
    turn.title = shortTitle(event.source === 'user' ? (event.typed ?? event.content) : 'Automated event');
    this.#byRequest.set(event.event_id, turn);
  }

  #taken({ reason, checkpoint, unsaved = [], tool_call_id: call }: EventOf<'checkpoint_taken'>): void {
    if (reason === 'command' && call !== undefined) this.#captured.add(call);
    const turn = this.#turns.at(-1);
    // Only the first one counts: a turn that was resumed after a restart takes another one, but began earlier.
    if (reason !== 'turn' || turn === undefined || turn.checkpoint !== undefined || checkpoint === undefined) return;
    turn.checkpoint = { name: checkpoint, unsaved: new Map(unsaved.map(({ path, hash }) => [path, hash])) };
  }

  #changed({ id, seq, changes = [], meanwhile = [] }: EventOf<'tool_call_response'>): boolean {
    const turn = this.#turns.at(-1);
    const found = this.#captured.delete(id);
    for (const change of changes) {
      const step = { ...stepOf(seq, change), ...(found && { found: true as const }) };
      if (isNothing(step)) continue;
      turn?.steps.push(step);
      this.#paths.add(change.path);
      this.#last.set(change.path, step);
      this.#lastSeq = seq;
      this.#add('own', step);
    }
    for (const change of meanwhile) {
      const step = stepOf(seq, change);
      if (!isNothing(step)) this.#add('meanwhile', step);
    }
    return changes.length + meanwhile.length > 0;
  }

  #add(list: ChangeList, step: Step): void {
    const open = this.#open[list].get(step.path);
    if (open === undefined) this.#open[list].set(step.path, [step]);
    else open.push(step);
  }

  #reviewed(event: Reviewed): void {
    if (event.action === 'revert' || event.action === 'bring_back') return this.#revert(event);
    const undone: Step[] = [];
    const open: (readonly [ChangeList, string, readonly Step[]])[] = [];
    const turn = this.#byRequest.get(event.of ?? '');
    for (const file of event.files) {
      const list = listOf(file);
      const before = [...(this.#open[list].get(file.path) ?? [])];
      const first = event.action === 'restore' ? (turn?.seq ?? 0) : 0;
      open.push([list, file.path, before]);
      this.#settle(event.seq, file, first);
      if (event.action !== 'keep' && file.rest === undefined) undone.push(...this.#stepsOf(event, file, before));
    }
    for (const step of undone) this.#undone.add(step);
    if (event.action === 'keep') return;
    this.#settled.set(event.event_id, { seq: event.seq, undone, open });
    this.#decisions.set(event.event_id, event);
  }

  #settle(seq: number, file: Reviewed['files'][number], first: number): void {
    const { path, through, rest } = file;
    const list = this.#open[listOf(file)];
    const open = list.get(path) ?? [];
    const earlier = open.filter((step) => step.seq < first);
    const later = open.filter((step) => step.seq > through && step.seq >= first);
    const left = [...earlier, ...(rest === undefined ? [] : [stepOf(seq, { path, ...rest })]), ...later];
    if (left.length === 0) list.delete(path);
    else list.set(path, left);
  }

  /** Undo covers the open steps of a file; restore covers all steps of its turns, including kept ones. */
  #stepsOf(event: Reviewed, file: Reviewed['files'][number], open: readonly Step[]): readonly Step[] {
    if (event.action === 'undo') return open.filter((step) => step.seq <= file.through);
    const steps = this.since(event.of ?? '').flatMap((turn) => turn.steps);
    return steps.filter((step) => step.path === file.path && step.seq <= file.through);
  }

  #revert({ of = '', files }: Reviewed): void {
    const settled = this.#settled.get(of);
    if (settled === undefined) return;
    const paths = new Set(files.map(({ path }) => path));
    for (const step of settled.undone) if (paths.has(step.path)) this.#undone.delete(step);
    for (const [list, path, steps] of settled.open) {
      if (!paths.has(path) || steps.length === 0) continue;
      const last = steps.at(-1)?.seq ?? 0;
      const open = this.#open[list].get(path) ?? [];
      const later = open.filter((step) => step.seq > last && step.seq !== settled.seq);
      this.#open[list].set(path, [...steps, ...later]);
    }
    this.#settled.delete(of);
    this.#decisions.delete(of);
  }
}

function listOf({ meanwhile }: Reviewed['files'][number]): ChangeList {
  return meanwhile === true ? 'meanwhile' : 'own';
}

type Change = NonNullable<EventOf<'tool_call_response'>['changes']>[number];

export function stepOf(seq: number, change: Change): Step {
  const { path, before, after, before_kind: beforeKind, after_kind: afterKind, overwrote } = change;
  const { before_mode: beforeMode, after_mode: afterMode } = change;
  return {
    seq,
    path,
    ...defined({ before, after, beforeKind, afterKind, beforeMode, afterMode, overwrote }),
  };
}

function isNothing({ before, after, beforeKind, afterKind, beforeMode, afterMode }: Step): boolean {
  return before === after && beforeKind === afterKind && beforeMode === afterMode;
}
