// Runs acpx, an independent client of the Agent Client Protocol, on the built agent and records every line in both
// directions.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAcpRuntime, createAgentRegistry, createFileSessionStore } from 'acpx/runtime';
import { build } from 'esbuild';
import { nodePrograms, programs } from '../../../esbuild.mjs';
import { atTestEnd } from '../endings.ts';
import { type ScriptedAnswer, startScriptedServer } from '../models/scriptedServer.ts';
import { type WireLine } from './wireJudge.ts';

const repository = resolve(import.meta.dirname, '../../..');
const acpx = join(repository, 'node_modules/acpx/dist/cli.js');

let built: Promise<string> | undefined;

/** Builds its own copy, because another step of `npm test` may be writing to `dist/`. */
export function buildAgent(): Promise<string> {
  built ??= (async () => {
    const outdir = join(repository, '.build/test', `acp-${process.pid}`);
    const quiet = { outdir, sourcemap: false, logLevel: 'error' as const };
    const { supervisor } = programs.entryPoints as Record<string, string>;
    const { acp } = nodePrograms.entryPoints as Record<string, string>;
    await Promise.all([
      build({ ...programs, ...quiet, entryPoints: { supervisor: supervisor ?? '' } }),
      build({ ...nodePrograms, ...quiet, entryPoints: { acp: acp ?? '' } }),
    ]);
    return join(outdir, 'acp.js');
  })();
  return built;
}

interface Run {
  readonly code: number;
  readonly output: string;
}

/** A folder, a scripted model, and acpx with its own home folder. */
export function startAcpx(...answers: readonly ScriptedAnswer[]) {
  return startAcpxIn(undefined, answers);
}

/** acpx on a folder that a window has open: `home` has the window's socket. */
export function startAcpxJoined(window: { readonly folder: string; readonly home: string }) {
  return startAcpxIn(window, []);
}

async function startAcpxIn(
  window: { readonly folder: string; readonly home: string } | undefined,
  answers: readonly ScriptedAnswer[],
) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'earshot-acpx-')));
  const [own, home, wire] = [join(root, 'folder'), join(root, 'home'), join(root, 'wire')];
  for (const one of [own, home, wire]) await mkdir(one);
  const folder = window?.folder ?? own;
  const server = await startScriptedServer(...answers);
  const storage = join(root, 'storage');
  const agent = join(root, 'agent');
  const command = `"${process.execPath}" "${await buildAgent()}" --model m --base-url ${server.baseUrl} --storage "${storage}"`;
  await writeFile(agent, `#!/bin/sh\ntee "${wire}/$$.client" | ${command} | tee "${wire}/$$.agent"\n`);
  await chmod(agent, 0o755);
  atTestEnd(async () => {
    await server.stop();
    await rm(root, { recursive: true, force: true, maxRetries: 20 });
  });
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    EARSHOT_HOME: window?.home ?? home,
    EARSHOT_API_KEY: 'k',
    NO_COLOR: '1',
  };
  return {
    folder,
    server,
    run: (...args: readonly string[]): Promise<Run> =>
      new Promise((done) => {
        // `--ttl`: the seconds that the process which owns acpx's sessions stays after its last prompt.
        const given = [acpx, '--agent', agent, '--cwd', folder, '--ttl', '1', ...args];
        execFile(process.execPath, given, { cwd: folder, env }, (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
          done({ code, output: stdout + stderr });
        });
      }),
    /** Prompts with acpx as a library, and chooses the first *Always* of each approval: the program allows only once. */
    promptAlways: async (text: string) => {
      const runtime = createAcpRuntime({
        cwd: folder,
        agentProcessEnv: env,
        sessionStore: createFileSessionStore({ stateDir: join(root, 'state') }),
        agentRegistry: createAgentRegistry({ overrides: { earshot: agent } }),
        permissionMode: 'deny-all',
        onPermissionRequest: async () => ({ outcome: 'allow_always' }),
      });
      const handle = await runtime.ensureSession({ sessionKey: 's', agent: 'earshot', mode: 'oneshot', cwd: folder });
      const turn = runtime.startTurn({ handle, text, mode: 'prompt', requestId: 'r' });
      const result = await turn.result;
      await runtime.shutdown();
      return result;
    },
    /** Every line so far, grouped by connection. */
    wire: async (): Promise<readonly (readonly WireLine[])[]> => {
      const connections = (await readdir(wire)).filter((name) => name.endsWith('.client'));
      return Promise.all(
        connections.map(async (name) => {
          const requests = await linesOf(join(wire, name), 'client');
          const answered = await linesOf(join(wire, name.replace('.client', '.agent')), 'agent');
          return [...requests, ...answered];
        }),
      );
    },
    /** The logs of all conversations on disk, concatenated. */
    events: async (): Promise<string> => {
      const files = await readdir(storage, { recursive: true }).catch(() => []);
      const logs = files.filter((name) => name.endsWith('.jsonl'));
      return (await Promise.all(logs.map((name) => readFile(join(storage, name), 'utf8')))).join('');
    },
  };
}

async function linesOf(file: string, from: WireLine['from']): Promise<WireLine[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ from, line }));
}
