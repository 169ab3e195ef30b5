// Identifies the process of the agent that started this program. An agent's hooks and MCP servers share it.
import { execFileSync } from 'node:child_process';
import { processInfo, startTimeOf } from './processTree.ts';

/** Programs through which agents start their hooks and servers. */
const WRAPPERS = /^-?(sh|bash|dash|zsh|fish|ksh|ash|busybox|env|npm|npx|pnpm|yarn|bunx|uvx|timeout|nice|nohup)\b/;
const MOST_WRAPPERS = 8;

interface Ancestor {
  readonly name: string;
  readonly parent: number;
}

/** Id and start time of the nearest ancestor that is not a wrapper; undefined where this cannot be determined. */
export function agentProcess(parent = process.ppid): string | undefined {
  if (process.platform === 'win32') return undefined;
  try {
    let pid = parent;
    for (let wrappers = 0; wrappers < MOST_WRAPPERS; wrappers += 1) {
      const found = ancestor(pid);
      if (!WRAPPERS.test(found.name) || found.parent <= 1) break;
      pid = found.parent;
    }
    const started = startTimeOf(pid);
    return started === undefined ? undefined : `${pid} ${started}`;
  } catch {
    return undefined;
  }
}

function ancestor(pid: number): Ancestor {
  if (process.platform === 'linux') return processInfo(pid);
  const text = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8', timeout: 1000 }).trim();
  const [parent = '', ...command] = text.split(/\s+/);
  return { parent: Number(parent), name: command.join(' ').split('/').at(-1) ?? '' };
}
