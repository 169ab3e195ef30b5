// Reads the names and versions of packages from lock files, and compares two states. Pure; one pass over the lines.
import { fieldOf, parseJson } from '../../base/json/outsideJson.ts';

export type Packages = ReadonlyMap<string, string>;

/** By the file's name: finds packages in its text. */
const READERS: Readonly<Record<string, (text: string) => Packages>> = {
  'package-lock.json': readPackageLock,
  'pnpm-lock.yaml': (text) =>
    byLine(text, /^ {2}["']?\/?(@?[^@\s"'(/]{1,200}(?:\/[^@\s"'(]{1,200})?)[@/](\d[^\s"'(:]{0,100})/),
  'yarn.lock': readYarn,
  'bun.lock': (text) => byLine(text, /^ {4}"[^"]{1,300}": \["(@?[^@"]{1,200})@([^"]{1,100})"/),
  'Cargo.lock': readTables,
  'uv.lock': readTables,
  'poetry.lock': readTables,
  'go.sum': (text) => byLine(text, /^(\S{1,300}) (v[^\s/]{1,100}) h1:/),
  'Gemfile.lock': (text) => byLine(text, /^ {4}([\w.-]{1,200}) \(([^)]{1,100})\)$/),
};

export const LOCK_FILES: readonly string[] = Object.keys(READERS);

export function readLockFile(name: string, text: string): Packages {
  return READERS[name]?.(text) ?? new Map<string, string>();
}

export interface PackageChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

export function comparePackages(before: Packages, now: Packages): readonly PackageChange[] {
  const names = [...new Set([...before.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    const change = { name, before: before.get(name), now: now.get(name) };
    return change.before === change.now ? [] : [change];
  });
}

/** Blank lines cost memory too. */
const MOST_LINES = 500_000;

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/, MOST_LINES);
}

/** The first version of a name counts: it is the one that the project itself uses, or as good as any other. */
function byLine(text: string, pattern: RegExp): Packages {
  const found = new Map<string, string>();
  for (const line of linesOf(text)) {
    const [, name, version] = pattern.exec(line.slice(0, 1000)) ?? [];
    if (name !== undefined && version !== undefined && !found.has(name)) found.set(name, version);
  }
  return found;
}

/** Those at the top of `node_modules`, which the project itself can import. */
function readPackageLock(text: string): Packages {
  const found = new Map<string, string>();
  for (const [path, entry] of Object.entries(fieldOf(parseJson(text), 'packages') ?? {})) {
    const name = path.startsWith('node_modules/') ? path.slice('node_modules/'.length) : '';
    const version = fieldOf(entry, 'version');
    if (name !== '' && !name.includes('node_modules/') && typeof version === 'string') found.set(name, version);
  }
  return found;
}

/** `"name@range":` and below it `version "1.2.3"` or `version: 1.2.3`. */
function readYarn(text: string): Packages {
  const found = new Map<string, string>();
  let name: string | undefined;
  for (const line of linesOf(text)) {
    const [, head] = /^"?(@?[^@\s",]{1,200})@/.exec(line.slice(0, 1000)) ?? [];
    if (head !== undefined) name = head;
    const [, version] = /^ {2}version:? "?([^"\s]{1,100})/.exec(line.slice(0, 1000)) ?? [];
    if (version === undefined || name === undefined) continue;
    if (!found.has(name)) found.set(name, version);
    name = undefined;
  }
  return found;
}

/** `[[package]]`, `name = "…"`, `version = "…"`. */
function readTables(text: string): Packages {
  const found = new Map<string, string>();
  let name: string | undefined;
  for (const line of linesOf(text)) {
    const [, key, value] = /^(name|version) = "([^"]{1,200})"/.exec(line.slice(0, 1000)) ?? [];
    if (key === 'name') name = value;
    if (key !== 'version' || name === undefined || value === undefined) continue;
    if (!found.has(name)) found.set(name, value);
    name = undefined;
  }
  return found;
}
