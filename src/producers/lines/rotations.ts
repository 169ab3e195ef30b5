// Finds the files in the folder of a log that have what was written to it before: under another name, or as a copy.
import { markLength, markOf } from '../../core/notify/lines/lineMark.ts';
import { type FileContent, type Workspace } from '../../core/ports/workspace.ts';
import { type LinePosition } from '../../protocol/lines/lineWatch.ts';

/** Files of the folder that are looked at. */
const MOST_SIBLINGS = 1000;
/** While files are renamed, two looks differ. */
const TRIES = 5;
const COMPRESSED = /\.(?:gz|bz2|xz|zst|br|lz4|zip|Z)$/;
/** What programs that rotate logs add to a name: numbers and dates. */
const ADDED = /^[._-](?:\d[\d._T:Z-]*|old|prev)$/;
/** The same before the extension: a short number with a dash could as well name another log. */
const INSERTED = /^(?:\.\d+|[._-]\d[\d._T:Z-]{5,})$/;

type Stated = Required<Pick<FileContent, 'bytes' | 'size' | 'identity' | 'modified'>> & Pick<FileContent, 'born'>;

/** A part of a file after a position. */
export interface FilePart extends Stated {
  readonly path: string;
  /** It has the bytes that the position's mark is of, and is at least as long. */
  readonly hasMark: boolean;
}

export interface Generations {
  /** The file of the position, or a copy of it. */
  readonly known: FilePart | undefined;
  /** Those that were written after it, the oldest first. */
  readonly later: readonly FilePart[];
  /** Some of them cannot be read, or are older but were written late, or there are too many. */
  readonly areIncomplete: boolean;
}

/** Undefined: there is no such file, or it must not be read. */
export async function readPart(
  workspace: Workspace,
  path: string,
  { through, mark }: LinePosition,
  limit: number,
): Promise<FilePart | undefined> {
  const before = Math.min(through, markLength(mark));
  const place = await workspace.resolve(path);
  const read = place.ok
    ? await workspace.read(place.value, { part: { from: through - before, length: before + limit } })
    : undefined;
  if (read?.ok !== true) return undefined;
  const { bytes, size, identity, modified, born } = read.value;
  if (size === undefined || identity === undefined || modified === undefined) return undefined;
  const hasMark = size >= through && (mark === undefined || markOf(bytes.subarray(0, before)) === mark);
  return {
    path,
    bytes: bytes.subarray(before),
    size,
    identity,
    modified,
    hasMark,
    ...(born !== undefined && { born }),
  };
}

export async function findGenerations(
  workspace: Workspace,
  path: string,
  position: LinePosition,
): Promise<Generations> {
  const base = path.slice(path.lastIndexOf('/') + 1);
  const siblings = await settled(() => readSiblings(workspace, path, position));
  const known = knownAmong(siblings, position);
  const { modified: since = Number.POSITIVE_INFINITY, born } = known ?? position;
  const later = siblings
    .filter((one) => one !== known && isRotated(nameOf(one.path), base))
    .filter(({ modified }) => modified > since)
    .sort((one, other) => one.modified - other.modified);
  const isYounger = (one: FilePart) => born === undefined || one.born === undefined || one.born > born;
  const readable = later.filter((one) => !COMPRESSED.test(one.path) && isYounger(one));
  const areIncomplete = readable.length < later.length || siblings.length === MOST_SIBLINGS;
  return { known, later: readable, areIncomplete };
}

/** Whether a program that rotates logs gives such a name to a log that was called `base`. */
export function isRotated(name: string, base: string): boolean {
  const plain = name.replace(COMPRESSED, '');
  if (plain.startsWith(base)) return ADDED.test(plain.slice(base.length));
  const dot = base.lastIndexOf('.');
  const [stem, extension] = dot <= 0 ? [base, ''] : [base.slice(0, dot), base.slice(dot)];
  if (!plain.startsWith(stem) || !plain.endsWith(extension)) return false;
  return INSERTED.test(plain.slice(stem.length, plain.length - extension.length));
}

function knownAmong(siblings: readonly FilePart[], position: LinePosition): FilePart | undefined {
  const { file, mark, modified = 0 } = position;
  if (file === undefined) return undefined;
  const same = siblings.find(({ identity, hasMark }) => identity === file && hasMark);
  if (same !== undefined || mark === undefined) return same;
  // The copy that was made before the file was emptied.
  const copies = siblings.filter((one) => one.hasMark && one.modified >= modified);
  return copies.sort((one, other) => one.modified - other.modified)[0];
}

async function readSiblings(workspace: Workspace, path: string, position: LinePosition): Promise<readonly FilePart[]> {
  const slash = path.lastIndexOf('/');
  const [folder, base] = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
  const place = await workspace.resolve(folder === '' ? '.' : folder);
  const listed = place.ok ? await workspace.list(place.value) : undefined;
  if (listed?.ok !== true) return [];
  const [stem = base] = base.split('.');
  const names = listed.value.flatMap(({ name, kind }) => (kind === 'file' && name !== base ? [name] : []));
  const likely = names.filter((name) => name.startsWith(stem));
  const others = names.filter((name) => !name.startsWith(stem));
  const parts: FilePart[] = [];
  for (const name of [...likely, ...others].slice(0, MOST_SIBLINGS)) {
    const part = await readPart(workspace, folder === '' ? name : `${folder}/${name}`, position, 0);
    if (part !== undefined) parts.push(part);
  }
  return parts;
}

/** What two looks in a row agree about. */
async function settled(look: () => Promise<readonly FilePart[]>): Promise<readonly FilePart[]> {
  let parts = await look();
  for (let tries = 1; tries < TRIES; tries += 1) {
    const again = await look();
    if (namesOf(parts) === namesOf(again)) return again;
    parts = again;
  }
  return parts;
}

function namesOf(parts: readonly FilePart[]): string {
  return JSON.stringify(parts.map(({ path, identity }) => [path, identity]));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
