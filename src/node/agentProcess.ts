// Identifies the process of the agent that started this program. An agent's hooks and MCP servers share it.
import { platform } from './platform/platform.ts';

/** Programs through which agents start their hooks and servers. */
const WRAPPERS = /^-?(sh|bash|dash|zsh|fish|ksh|ash|busybox|env|npm|npx|pnpm|yarn|bunx|uvx|timeout|nice|nohup)\b/;
const MOST_WRAPPERS = 8;

/** Id and start time of the nearest ancestor that is not a wrapper; undefined where this cannot be determined. */
export function agentProcess(parent = process.ppid): string | undefined {
  const { processes } = platform;
  let pid = parent;
  for (let wrappers = 0; wrappers < MOST_WRAPPERS; wrappers += 1) {
    const found = processes.info(pid);
    if (found === undefined) return undefined;
    if (!WRAPPERS.test(found.name) || found.parent <= 1) break;
    pid = found.parent;
  }
  const started = processes.startTimeOf(pid);
  return started === undefined ? undefined : `${pid} ${started}`;
}
