// The only way to read files of the workspace: checks a path and its link target in the same step in which it reads the
// file.
import { type Failure, failed, succeeded } from '../../base/errors.ts';
import {
  type Consent,
  type FilePath,
  type FilePlace,
  type HiddenFiles,
  type PlaceJudge,
  type Workspace,
  type WorkspaceDisk,
} from '../ports/workspace.ts';
import { delegateWorkspace } from './delegateWorkspace.ts';
import { readHidden, whyHidden } from './ignoreFile.ts';
import { whyProtected } from './protectedFiles.ts';

/** Failure codes: the file exists, but the model may not see its content. */
export const OUTSIDE = 'outside';
export const PROTECTED = 'protected';
export const HIDDEN = 'hidden';

export function guardWorkspace(disk: WorkspaceDisk): Workspace {
  const readLocally: Workspace['readLocally'] = (file, options) => disk.readJudged(file, whyOutside, options);
  /** Reads that begin while the rules are being loaded share them, since several files are often read at once. */
  let reading: Promise<HiddenFiles> | undefined;
  const hidden = () => {
    reading ??= readHidden({ folders: disk.folders, readLocally }).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    get folders() {
      return disk.folders;
    },
    get trusted() {
      return disk.trusted;
    },
    resolve: (path, options) => disk.resolve(path, options),
    // Rules are loaded only if the file exists: at every delivery point several files are requested that do not.
    read: (file, options) => disk.readJudged(file, async (place) => whyNotForModel(place, await hidden()), options),
    readLocally,
    fingerprint: async (file, by) => {
      const content = await readLocally(file);
      return content.ok ? succeeded(by.hash(content.value.bytes)) : content;
    },
    mayShow: async (file) => {
      const [rules, place] = await Promise.all([hidden(), disk.locate(file)]);
      return place.ok && whyNotForModel(place.value, rules) === undefined;
    },
    list: (folder) => listJudged(disk, folder, whyOutside),
    admitting: (consent) => admit(disk, guardWorkspace(disk), consent),
    unsaved: () => disk.unsaved(),
    decode: (file, bytes) => disk.decode(file, bytes),
    encode: (file, text, like) => disk.encode(file, text, like),
    apply: (edits, options) => disk.apply(edits, options),
  };
}

/** The workspace for one call: opens what is always allowed, plus what the person has consented to. */
function admit(disk: WorkspaceDisk, guarded: Workspace, { letIn, names, hidden }: Consent): Workspace {
  /** Absolute paths outside the workspace. */
  const opened = new Set<string>();
  const admitted = new Set(names);
  const isAllowed = (name: string) => !hidden.hides(name) && whyProtected(name, true) === undefined;
  const judgeFor =
    (file: FilePath): PlaceJudge =>
    (place) => {
      if (place.outside) return isBelowAny(opened, file.absolute) ? undefined : whyOutside(place);
      const allowed = namesOf(place).every((name) => isAllowed(name) || isBelowAny(admitted, name));
      return allowed ? undefined : whyNotForModel(place, hidden);
    };
  return delegateWorkspace(guarded, {
    resolve: async (path) => {
      const file = await disk.resolve(path, { anywhere: letIn.has(path) });
      if (!file.ok || !letIn.has(path)) return file;
      opened.add(file.value.absolute);
      for (const name of namesOf({ ...file.value, outside: false })) admitted.add(name);
      return file;
    },
    read: (file, options) => disk.readJudged(file, judgeFor(file), options),
    mayShow: async (file) => {
      const place = await disk.locate(file);
      return place.ok && (await judgeFor(file)(place.value)) === undefined;
    },
    list: (folder) =>
      listJudged(disk, folder, (place) =>
        place.outside && !isBelowAny(opened, folder.absolute) ? whyOutside(place) : undefined,
      ),
  });
}

async function listJudged(disk: WorkspaceDisk, folder: FilePath, judge: PlaceJudge) {
  const place = await disk.locate(folder);
  const refused = place.ok ? await judge(place.value) : place.failure;
  return refused === undefined ? disk.listUnjudged(folder) : { ok: false as const, failure: refused };
}

function whyNotForModel(place: FilePlace, hidden: HiddenFiles): Failure | undefined {
  const outside = whyOutside(place);
  if (outside !== undefined) return outside;
  const lead = place.real === undefined ? '' : `${place.path} is a link, and `;
  for (const name of namesOf(place)) {
    const why = whyProtected(name, true);
    if (why !== undefined) return failed(PROTECTED, `${lead}${why}.`).failure;
    const hides = whyHidden(hidden, name);
    if (hides !== undefined) return failed(HIDDEN, `${lead}${hides}.`).failure;
  }
  return undefined;
}

function whyOutside({ path, outside }: FilePlace): Failure | undefined {
  return outside ? failed(OUTSIDE, `${path} is or leads outside the workspace.`).failure : undefined;
}

function namesOf({ path, real }: FilePlace): readonly string[] {
  return real === undefined ? [path] : [path, real];
}

/** Whether the name is one of these names, or inside a folder that is one of them. */
function isBelowAny(names: ReadonlySet<string>, name: string): boolean {
  if (names.has(name) || names.has('')) return true;
  return [...names].some((one) => name.startsWith(`${one}/`) || name.startsWith(`${one}\\`));
}
