// Decides which files the agent changed in which turn, what of it is still to be reviewed, and what was undone.
import { wholeCharacters } from '../../base/text.ts';
import { type EventOf, type LogEvent } from '../../protocol/event.ts';

/** One change of one file, by the hashes of its bytes; absent: there was no such file. */
export interface Step {
  /** The event that says so. */
  readonly seq: number;
  readonly path: string;
  readonly before?: string;
  readonly after?: string;
}

interface TakenCheckpoint {
  readonly name: string;
  /** The bytes of buffers with changes that were not saved, by path. */
  readonly unsaved: ReadonlyMap<string, string>;
}

export interface ChangedTurn {
  /** Of `turn_started`. */
  readonly seq: number;
  /** The event of the request that began it; empty until there is one. */
  readonly request: string;
  readonly title: string;
  /** The workspace before the turn. */
  readonly checkpoint?: TakenCheckpoint;
  /** In the order in which they happened, without those that were undone. */
  readonly steps: readonly Step[];
}

type Reviewed = EventOf<'changes_reviewed'>;

/** What a decision took away, to be put back if it is taken back itself. */
interface Settled {
  readonly seq: number;
  readonly undone: readonly Step[];
  readonly open: readonly (readonly [string, readonly Step[]])[];
}

interface Turn {
  seq: number;
  request: string;
  title: string;
  checkpoint?: TakenCheckpoint;
  steps: Step[];
}

const TITLE_LENGTH = 60;

export class Changes {
  readonly #turns: Turn[] = [];
  readonly #byRequest = new Map<string, Turn>();
  readonly #open = new Map<string, Step[]>();
  readonly #paths = new Set<string>();
  readonly #undone = new Set<Step>();
  readonly #settled = new Map<string, Settled>();
  readonly #decisions = new Map<string, Reviewed>();

  /** Oldest first; also those that changed nothing. */
  get turns(): readonly ChangedTurn[] {
    return this.#turns.map((turn) => this.#view(turn));
  }

  /** By the event of the request that began it, and all after it. */
  since(request: string): readonly ChangedTurn[] {
    const turn = this.#byRequest.get(request);
    return turn === undefined ? [] : this.#turns.slice(this.#turns.indexOf(turn)).map((one) => this.#view(one));
  }

  /** What nobody has kept or undone yet, by path, each in the order in which it happened. */
  get open(): ReadonlyMap<string, readonly Step[]> {
    return this.#open;
  }

  /** Every file that was ever changed. */
  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  /** An undoing or restoring that can be taken back, by its event. */
  decision(event: string): Reviewed | undefined {
    return this.#decisions.get(event);
  }

  /** Returns whether what is to be reviewed changed. */
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
    return { seq, request, title, ...(checkpoint !== undefined && { checkpoint }), steps };
  }

  #requested(event: EventOf<'chat_request'>): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined || turn.request !== '') return;
    turn.request = event.event_id;
    turn.title = oneLine(event.source === 'user' ? event.content : 'Automated event');
    this.#byRequest.set(event.event_id, turn);
  }

  #taken({ reason, checkpoint, unsaved = [] }: EventOf<'checkpoint_taken'>): void {
    const turn = this.#turns.at(-1);
    // The first one: a turn that was taken up again after a restart began before that.
    if (reason !== 'turn' || turn === undefined || turn.checkpoint !== undefined || checkpoint === undefined) return;
    turn.checkpoint = { name: checkpoint, unsaved: new Map(unsaved.map(({ path, hash }) => [path, hash])) };
  }

  #changed({ seq, changes = [] }: EventOf<'tool_call_response'>): boolean {
    const turn = this.#turns.at(-1);
    for (const { path, before, after } of changes) {
      if (before === after) continue;
      const step = stepOf(seq, path, { before, after });
      turn?.steps.push(step);
      this.#paths.add(path);
      const open = this.#open.get(path);
      if (open === undefined) this.#open.set(path, [step]);
      else open.push(step);
    }
    return changes.length > 0;
  }

  #reviewed(event: Reviewed): void {
    if (event.action === 'bring_back') return this.#takenBack(event);
    const undone: Step[] = [];
    const open: (readonly [string, readonly Step[]])[] = [];
    const turn = this.#byRequest.get(event.of ?? '');
    for (const file of event.files) {
      const before = [...(this.#open.get(file.path) ?? [])];
      const first = event.action === 'restore' ? (turn?.seq ?? 0) : 0;
      open.push([file.path, before]);
      this.#settle(event.seq, file, first);
      if (event.action !== 'keep' && file.rest === undefined) undone.push(...this.#stepsOf(event, file, before));
    }
    for (const step of undone) this.#undone.add(step);
    if (event.action === 'keep') return;
    this.#settled.set(event.event_id, { seq: event.seq, undone, open });
    this.#decisions.set(event.event_id, event);
  }

  #settle(seq: number, { path, through, rest }: Reviewed['files'][number], first: number): void {
    const open = this.#open.get(path) ?? [];
    const earlier = open.filter((step) => step.seq < first);
    const later = open.filter((step) => step.seq > through && step.seq >= first);
    const left = [...earlier, ...(rest === undefined ? [] : [stepOf(seq, path, rest)]), ...later];
    if (left.length === 0) this.#open.delete(path);
    else this.#open.set(path, left);
  }

  /** A file is undone as far as it was open; a turn is undone with all that was kept of it. */
  #stepsOf(event: Reviewed, file: Reviewed['files'][number], open: readonly Step[]): readonly Step[] {
    if (event.action === 'undo') return open.filter((step) => step.seq <= file.through);
    const steps = this.since(event.of ?? '').flatMap((turn) => turn.steps);
    return steps.filter((step) => step.path === file.path && step.seq <= file.through);
  }

  #takenBack({ of = '', files }: Reviewed): void {
    const settled = this.#settled.get(of);
    if (settled === undefined) return;
    const paths = new Set(files.map(({ path }) => path));
    for (const step of settled.undone) if (paths.has(step.path)) this.#undone.delete(step);
    for (const [path, steps] of settled.open) {
      if (!paths.has(path) || steps.length === 0) continue;
      const last = steps.at(-1)?.seq ?? 0;
      const later = (this.#open.get(path) ?? []).filter((step) => step.seq > last && step.seq !== settled.seq);
      this.#open.set(path, [...steps, ...later]);
    }
    this.#settled.delete(of);
    this.#decisions.delete(of);
  }
}

function stepOf(
  seq: number,
  path: string,
  { before, after }: { before?: string | undefined; after?: string | undefined },
): Step {
  return { seq, path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > TITLE_LENGTH ? `${wholeCharacters(line, TITLE_LENGTH - 1)}…` : line;
}
