// The official conformance suite against our client. `npm test` runs the part without OAuth, `npm run test:full`
// everything that both revisions require.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { compileCache } from '../../support/compileCache.ts';
import { isFull } from '../../support/runs.ts';

const root = resolve(import.meta.dirname, '../../..');
const program = join(root, '.build/test', `conformance-${process.pid}.mjs`);

/** Scenarios that fail, with the reason. No revision requires them: the suite runs them without scoring them. */
const NOT_SUPPORTED = new Map([
  ['auth/client-credentials-jwt', 'an extension: Earshot signs in as a person, not as a service'],
  ['auth/client-credentials-basic', 'an extension: Earshot signs in as a person, not as a service'],
  ['auth/enterprise-managed-authorization', 'an extension: needs an identity provider of an enterprise'],
  ['auth/dpop', 'an extension: tokens are not bound to a key'],
  ['auth/dpop-nonce', 'an extension: tokens are not bound to a key'],
  ['auth/wif-jwt-bearer', 'an extension: Earshot signs in as a person, not as a workload'],
]);

/**
 * The scenarios that each revision requires of a client, without OAuth. The one about preserved schemas runs but is not
 * scored.
 */
const WITHOUT_OAUTH = {
  '2025-11-25': [
    'elicitation-sep1034-client-defaults',
    'initialize',
    'json-schema-2020-12-preservation',
    'sse-retry',
    'tools_call',
  ],
  '2026-07-28': [
    'http-custom-headers',
    'http-invalid-tool-headers',
    'http-standard-headers',
    'json-schema-2020-12-preservation',
    'json-schema-ref-no-deref',
    'request-metadata',
    'sep-2322-client-request-state',
    'tools_call',
  ],
};

beforeAll(() => {
  buildSync({
    absWorkingDir: root,
    entryPoints: ['test/conformance/client.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'es2023',
    outfile: program,
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
});

const client = `"${process.execPath}" "${program}"`;

async function runSuite(
  command: string,
  ...args: string[]
): Promise<{ passes: boolean; text: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-conformance-'));
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  return new Promise((done) => {
    execFile(
      process.execPath,
      // A client is stopped after this time; the default of 30 s is too short on a busy machine.
      [suite, 'client', '--command', command, '--timeout', '300000', '-o', folder, ...args],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, ...compileCache } },
      (error, stdout, stderr) => done({ passes: error === null, text: stdout + stderr, folder }),
    );
  });
}

/**
 * One run for each revision, since loading the suite takes longer than a scenario. The client of an OAuth scenario
 * exits at once.
 */
test.skipIf(isFull || process.platform === 'win32').concurrent.each(Object.entries(WITHOUT_OAUTH))(
  'all scenarios without OAuth that %s requires pass',
  { timeout: 300_000 },
  async (revision, scenarios) => {
    const skipping = `case "$MCP_CONFORMANCE_SCENARIO" in auth/*) exit 1 ;; esac; ${client}`;
    const { text } = await runSuite(skipping, '--requirements', revision);
    const passing = [...text.matchAll(/^✓ ([^\s/]+): [1-9]\d* passed, 0 failed/gm)].map(([, name]) => name);
    expect(passing.sort(), text).toEqual(scenarios);
  },
);

test.runIf(isFull).each(['2025-11-25', '2026-07-28'])(
  'all scenarios that %s requires pass, including OAuth, and only the listed extensions fail',
  { timeout: 300_000 },
  async (revision) => {
    const { passes, text } = await runSuite(client, '--requirements', revision);
    const failing = [...text.matchAll(/^✗ (\S+): \d+ passed, [1-9]\d* failed$/gm)].map(([, name]) => name ?? '');
    expect(
      failing.filter((name) => !NOT_SUPPORTED.has(name)),
      text,
    ).toEqual([]);
    expect([...NOT_SUPPORTED.keys()].filter((name) => !failing.includes(name))).toEqual([]);
    expect(passes).toBe(true);
    const required = await readFile(
      join(root, 'node_modules/@modelcontextprotocol/conformance/requirements', `${revision}.yaml`),
      'utf8',
    );
    // Checks that scenarios ran at all: a summary without any would pass too.
    expect([...text.matchAll(/^✓ /gm)].length).toBeGreaterThan(required.includes('request-metadata') ? 30 : 15);
  },
);
