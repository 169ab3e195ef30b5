// The permission bits of captured files. Git keeps only the executable bit, so a checkpoint's tree has one more entry,
// a list of the files whose bits are not the usual ones.
import * as z from 'zod';

/** No file can have this name: it is longer than any file system allows. */
export const MODES_NAME = `earshot-modes-${'-'.repeat(255)}`;

/** Read, write and execute for owner, group and others, and the three special bits. */
const PERMISSIONS = 0o7777;

const modesSchema = z.strictObject({
  /** The bits of files that are not listed: of plain and of executable ones. */
  plain: z.int().optional(),
  executable: z.int().optional(),
  others: z.record(z.string(), z.int()),
});

export class CheckpointModes {
  #usual: { plain?: number | undefined; executable?: number | undefined } = {};
  readonly #others = new Map<string, number>();
  #changed = false;

  /** Undefined if the checkpoint has no such list. */
  static parse(bytes: Uint8Array | undefined): CheckpointModes | undefined {
    if (bytes === undefined) return undefined;
    const { plain, executable, others } = modesSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    const modes = new CheckpointModes();
    modes.#usual = { plain, executable };
    for (const [path, mode] of Object.entries(others)) modes.#others.set(path, mode);
    return modes;
  }

  /** Whether the list differs from the one that was read. */
  get changed(): boolean {
    return this.#changed;
  }

  /** The first file of its kind decides which bits are usual. */
  note(path: string, mode: number): void {
    const kind = kindOf(mode);
    const bits = mode & PERMISSIONS;
    if (this.#usual[kind] === undefined) {
      this.#usual[kind] = bits;
      this.#changed = true;
    }
    if (bits === this.#usual[kind]) this.forget(path);
    else if (this.#others.get(path) !== bits) {
      this.#others.set(path, bits);
      this.#changed = true;
    }
  }

  forget(path: string): void {
    if (this.#others.delete(path)) this.#changed = true;
  }

  of(path: string, kind: 'plain' | 'executable'): number | undefined {
    return this.#others.get(path) ?? this.#usual[kind];
  }

  /** The files whose bits differ, if their executable bit does not: git compares that. */
  differing(other: CheckpointModes): { readonly path: string; readonly kind: 'plain' | 'executable' }[] {
    return [...new Set([...this.#others.keys(), ...other.#others.keys()])].flatMap((path) => {
      const kind = kindOf(this.#others.get(path) ?? other.#others.get(path) ?? 0);
      return this.of(path, kind) === other.of(path, kind) ? [] : [{ path, kind }];
    });
  }

  toString(): string {
    const others = Object.fromEntries([...this.#others].sort(([a], [b]) => (a < b ? -1 : 1)));
    return JSON.stringify({ ...this.#usual, others });
  }
}

/** As git sees it. */
function kindOf(mode: number): 'plain' | 'executable' {
  return (mode & 0o100) === 0 ? 'plain' : 'executable';
}
