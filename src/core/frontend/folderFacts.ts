// Derives from the top level of a folder what can be suggested there. What must fail is not a fact: tests need their
// program, and scripts their packages.
import * as z from 'zod';
import { defined } from '../../base/json/defined.ts';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { type FolderEntry } from '../ports/workspace.ts';

export interface FolderInput {
  readonly entries: readonly FolderEntry[];
  readonly trusted: boolean;
  /** Reads a file at the top level; undefined if it cannot be read. */
  read(name: string): Promise<string | undefined>;
  /** Whether a command can start this program. */
  hasProgram(name: string): Promise<boolean>;
}

export const NO_FOLDER: FolderFacts = { open: false, trusted: true, empty: true, code: false };

const README = [/^readme\.md$/i, /^readme(?:\.\w+)?$/i];
const CODE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|cpp|cc|c|h|rb|php|swift|vue|svelte)$/i;
const PROJECT =
  /^(?:package\.json|pyproject\.toml|setup\.py|requirements\.txt|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|CMakeLists\.txt|Makefile|Gemfile|composer\.json|src)$/;
/** What `npm init` writes; it always fails. */
const NO_TEST = /no test specified/;

const scripts = z.record(z.string(), z.string()).optional().catch(undefined);
const packages = z.record(z.string(), z.unknown()).optional().catch(undefined);
const packageSchema = z.object({ scripts, dependencies: packages, devDependencies: packages });

export async function folderFacts(input: FolderInput): Promise<FolderFacts> {
  const { trusted, entries } = input;
  const names = new Set(entries.map(({ name }) => name));
  const files = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const readme = README.map((pattern) => files.find((name) => pattern.test(name))).find((name) => name !== undefined);
  const node = await readScripts(input, names);
  const tests = trusted ? await testCommand(input, names, node) : undefined;
  return {
    open: true,
    trusted,
    empty: [...names].every((name) => name.startsWith('.')),
    code: [...names].some((name) => PROJECT.test(name)) || files.some((name) => CODE.test(name)),
    ...defined({ readme, tests }),
    ...(trusted && node?.['check'] !== undefined && { check: 'check' }),
  };
}

/** The scripts of `package.json`; undefined if its packages are not installed, since scripts would not find them. */
async function readScripts({ read }: FolderInput, names: ReadonlySet<string>) {
  const text = names.has('package.json') ? await read('package.json') : undefined;
  const parsed = packageSchema.safeParse(text === undefined ? undefined : parseObject(text));
  if (!parsed.success) return undefined;
  const { scripts: found = {}, dependencies = {}, devDependencies = {} } = parsed.data;
  const needs = Object.keys({ ...dependencies, ...devDependencies }).length > 0;
  return needs && !names.has('node_modules') ? undefined : found;
}

async function testCommand(
  { read, hasProgram }: FolderInput,
  names: ReadonlySet<string>,
  node: Readonly<Record<string, string>> | undefined,
): Promise<string | undefined> {
  const [, manager] = MANAGERS.find(([lock]) => names.has(lock)) ?? ['', 'npm'];
  const makefile = names.has('Makefile') ? await read('Makefile') : undefined;
  const python = names.has('tests') || names.has('test') || [...names].some((name) => /^test_.*\.py$/.test(name));
  const virtual = ['.venv/bin/pytest', '.venv\\Scripts\\pytest.exe'];
  const commands: readonly (readonly [is: boolean, program: string, command: string])[] = [
    [node?.['test'] !== undefined && !NO_TEST.test(node['test']), manager, `${manager} test`],
    [names.has('Cargo.toml'), 'cargo', 'cargo test'],
    [names.has('go.mod'), 'go', 'go test ./...'],
    ...virtual.map((program) => [python && names.has('.venv'), program, program] as const),
    [python && isPython(names), 'pytest', 'pytest'],
    [makefile !== undefined && /^test:/m.test(makefile), 'make', 'make test'],
  ];
  for (const [is, program, command] of commands) if (is && (await hasProgram(program))) return command;
  return undefined;
}

const MANAGERS = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
] as const;

function isPython(names: ReadonlySet<string>): boolean {
  return ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt'].some((name) => names.has(name));
}
