// A growing file of the workspace as a source of lines, read through the door. Follows it when it is rotated or emptied,
// also several times between two looks, and says when something that was written may be gone.
import { type Clock } from '../../base/clock.ts';
import { defined } from '../../base/json/defined.ts';
import { printPath } from '../../base/printPath.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type LinePosition } from '../../protocol/lines/lineWatch.ts';
import { type LinePiece, type LineSource } from './lineFollower.ts';
import { type FilePart, findGenerations, readPart } from './rotations.ts';

/** If more was written since the last search, as while the editor was closed, only the end is searched. */
const MOST_BACKLOG = 64 * 1024 * 1024;
/** A program writes to a rotated file until it has opened the new one. */
const LATE_MILLISECONDS = 1000;
/** A log that is so much older than the one before it: the time of day was set back, and does not tell their order. */
const OLDER_MILLISECONDS = 60_000;

export function fileLines(workspace: Workspace, clock: Clock, path: string): LineSource {
  const tail = new Tail(workspace, clock, path);
  return {
    words: {
      name: `The file ${printPath(path)}`,
      origin: 'filesystem',
      readMore: () => '',
    },
    read: (position, limit) => tail.read(position, limit),
  };
}

class Tail {
  readonly #workspace: Workspace;
  readonly #clock: Clock;
  readonly #path: string;
  /** The other name under which the position's file was found. */
  #renamed: string | undefined;
  /** The files that follow that one, so that the folder is read once for all of them. */
  #later: readonly FilePart[] = [];
  /** A state of the file in which nothing follows, so that the folder is not read again and again. */
  #waited: string | undefined;

  constructor(workspace: Workspace, clock: Clock, path: string) {
    this.#workspace = workspace;
    this.#clock = clock;
    this.#path = path;
  }

  async read(position: LinePosition, limit: number): Promise<LinePiece | undefined> {
    const current = await readPart(this.#workspace, this.#path, position, limit);
    const isKnown = current !== undefined && isAfter(current, position);
    if (isKnown && !mayBeEmptied(current, position)) return this.#goOn(current, position, limit);
    const renamed =
      this.#renamed === undefined ? undefined : await readPart(this.#workspace, this.#renamed, position, limit);
    if (renamed !== undefined && isAfter(renamed, position)) {
      if (renamed.bytes.length > 0) return this.#goOn(renamed, position, limit);
      const [next, ...later] = this.#later;
      this.#later = later;
      const piece = next && (await this.#begin(next, limit));
      if (piece !== undefined) return piece;
    }
    const state = JSON.stringify([position.through, position.file, current?.identity, current?.modified]);
    if (this.#waited === state) return undefined;
    // Before the folder: what is copied and emptied after this is found there.
    const first = await readBeginning(this.#workspace, this.#path, limit);
    const { known, later, areIncomplete } = await findGenerations(this.#workspace, this.#path, position);
    if (known !== undefined) {
      this.#renamed = known.path;
      const rest = await readPart(this.#workspace, known.path, position, limit);
      // Renamed once more: the next look finds it.
      if (rest?.identity !== known.identity) return undefined;
      if (rest.bytes.length > 0) return this.#goOn(rest, position, limit);
      if (Math.abs(this.#clock.now() - rest.modified) < LATE_MILLISECONDS) return undefined;
    }
    const [next, ...others] = later;
    this.#later = others;
    const isOlder = (first?.file?.modified ?? Number.POSITIVE_INFINITY) < (known?.modified ?? 0) - OLDER_MILLISECONDS;
    const lost = areIncomplete || isOlder || (position.file !== undefined && known === undefined && !isKnown);
    if (next !== undefined && next.size > 0) {
      const piece = await this.#begin(next, limit);
      return piece && { ...piece, lost };
    }
    if (next !== undefined || first === undefined || first.bytes.length === 0) {
      this.#waited = state;
      return undefined;
    }
    this.#renamed = undefined;
    return { ...first, lost };
  }

  async #goOn(part: FilePart, { through }: LinePosition, limit: number): Promise<LinePiece | undefined> {
    const skipped = Math.max(0, part.size - through - MOST_BACKLOG);
    if (skipped === 0) return part.bytes.length === 0 ? undefined : pieceOf(part, through, 0);
    const end = await readPart(this.#workspace, part.path, { through: through + skipped }, limit);
    return end?.identity === part.identity ? pieceOf(end, through + skipped, skipped) : undefined;
  }

  async #begin({ path, identity }: FilePart, limit: number): Promise<LinePiece | undefined> {
    const begun = await readBeginning(this.#workspace, path, limit);
    if (begun?.file?.file !== identity) return undefined;
    this.#renamed = path;
    return begun;
  }
}

async function readBeginning(workspace: Workspace, path: string, limit: number): Promise<LinePiece | undefined> {
  const begun = await readPart(workspace, path, { through: 0 }, limit);
  const from = Math.max(0, (begun?.size ?? 0) - MOST_BACKLOG);
  const part = from === 0 ? begun : await readPart(workspace, path, { through: from }, limit);
  if (part === undefined || part.identity !== begun?.identity) return undefined;
  return { ...pieceOf(part, from, from), begins: true };
}

function isAfter({ identity, hasMark }: FilePart, { file }: LinePosition): boolean {
  return identity === file && hasMark;
}

/** Nothing of it was read yet, so that it cannot be told from what it had before it was emptied. */
function mayBeEmptied({ modified }: FilePart, { through, mark, modified: known = modified }: LinePosition): boolean {
  return through === 0 && mark === undefined && modified !== known;
}

function pieceOf({ bytes, identity: file, modified, born }: FilePart, from: number, skipped: number): LinePiece {
  return { bytes, from, skipped, file: defined({ file, modified, born }) };
}
